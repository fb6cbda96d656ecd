/** Drop a file, see what each row became. Good records go in, bad ones come back with a reason. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type DragEvent } from "react";
import { Link } from "react-router";

import { importFile, type ImportKind, type Published } from "@/api/projects";
import type { ImportResult } from "@/api/types";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Failure } from "@/components/states";
import { bytes, plural } from "@/lib/format";

import { ProblemSetForm } from "./making/problem-set-form";
import { PUBLISHED_EXAMPLES, PublishedFields } from "./published-fields";
import { RejectedRows } from "./rejected-rows";

const KINDS: readonly (readonly [ImportKind, string])[] = [
  ["prompts", "Prompts"],
  ["demonstrations", "Demonstrations"],
  ["comparisons", "Comparisons"],
  ["preferences", "Preferences"],
  ["solutions", "Solutions"],
];

const EXAMPLES: Readonly<Record<ImportKind, string>> = {
  prompts: '{"prompt": "My laptop gets hot. What should I check first?", "tags": ["hardware"]}',
  demonstrations: '{"prompt": "Who wrote Faust?", "response": "Goethe wrote Faust."}',
  comparisons:
    '{"prompt": "Who wrote Faust?", "responses": ["Goethe.", "Schiller.", "I do not know."]}',
  preferences: '{"prompt": "Who wrote Faust?", "chosen": "Goethe.", "rejected": "Schiller."}',
  solutions:
    '{"prompt": "2 + 3 + 4?", "steps": [{"content": "2 + 3 = 5", "label": 1}, {"content": "5 + 4 = 8", "label": 0}]}',
};

/** Where the records of a kind are seen, if not in a tab of its name. */
const TAB_OF: Partial<Record<ImportKind, string>> = {
  preferences: "judgments",
};

const FORMATS = ["auto", "native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"];

function Result({
  result,
  projectId,
  kind,
}: {
  result: ImportResult;
  projectId: string;
  kind: ImportKind;
}) {
  const { accepted, duplicates, rejected_total: refused } = result;
  const tab = TAB_OF[kind] ?? kind;
  const isEmpty = accepted + duplicates + refused === 0;
  const isGood = refused === 0 && !isEmpty;
  return (
    <section className="card" aria-live="polite">
      <div className={`note ${isGood ? "good" : "warn"} import-note`}>
        <Icon name={isGood ? "check" : "alert"} />
        <span className="grow">
          <b>{plural(accepted, "record")} imported.</b>
          {isEmpty &&
            " No records were found in the file. It must be JSONL (one JSON object per line), JSON, CSV or Parquet."}
          {duplicates > 0 &&
            ` ${plural(duplicates, "record")} ${duplicates === 1 ? "was" : "were"} already in the project.`}
          {refused > 0 &&
            ` ${plural(refused, "row")} rejected. Correct ${refused === 1 ? "it" : "them"} and import the file again.`}
        </span>
        <Link className="btn" to={`/projects/${projectId}/data/${tab}`}>
          View records
        </Link>
      </div>
      <RejectedRows result={result} numbered="Line, element or row" rows="rejected rows" />
    </section>
  );
}

/** What is sent stays as it was asked for, whatever is chosen while it is read. */
interface Asked {
  readonly file: File;
  readonly kind: ImportKind;
  readonly format: string;
  readonly published: Published | null;
}

/** What a file may look like. */
function Example({ kind, published }: Pick<Asked, "kind" | "published">) {
  return (
    <>
      <pre className="mono example">
        {published === null ? EXAMPLES[kind] : PUBLISHED_EXAMPLES[published.set]}
      </pre>
      {kind === "prompts" && published === null && (
        <p className="small muted">
          JSONL, a JSON array or Parquet of GSM8K, MATH, AIME or AMC comes in with the fields that
          were published: choose the set under Records.
        </p>
      )}
      {published?.set === "math" && (
        <p className="small muted">
          JSONL, a JSON array or Parquet. A folder with one file for each problem, as MATH was
          published: <code>podium problems read math FOLDER</code> makes a file of prompts of it.
        </p>
      )}
    </>
  );
}

export function ImportTab({ projectId }: { projectId: string }) {
  const [kind, setKind] = useState<ImportKind>("prompts");
  const [format, setFormat] = useState("auto");
  const [chosen, setPublished] = useState<Published | null>(null);
  const published = kind === "prompts" ? chosen : null;
  // A test file that came in as train would be trained on: nobody guesses.
  const lacksSplit = published !== null && published.split === null;
  const [isOver, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: (asked: Asked) =>
      importFile(projectId, asked.kind, asked.format, asked.file, asked.published),
    onSuccess: () => client.invalidateQueries({ queryKey: ["project", projectId] }),
  });
  const mayTake = !send.isPending && !lacksSplit;
  const take = (files: FileList | null) => {
    const file = files?.[0];
    // One at a time: the result of the one before, with its rejected rows, would never be shown.
    if (file !== undefined && mayTake) send.mutate({ file, kind, format, published });
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <div className="import">
      <div className="row">
        <Segmented
          label="Record type"
          value={kind}
          options={KINDS}
          onChange={(next) => {
            setKind(next);
            if (!send.isPending) send.reset();
          }}
        />
        {kind === "prompts" ? (
          <PublishedFields value={published} onChange={setPublished} />
        ) : (
          <label className="row small muted">
            Format
            <select
              className="input format"
              value={format}
              onChange={(event) => setFormat(event.target.value)}
            >
              {FORMATS.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div
        className={isOver ? "card drop over" : "card drop"}
        onDragOver={(event) => {
          event.preventDefault();
          // The pointer says that nothing can be dropped.
          if (!mayTake) event.dataTransfer.dropEffect = "none";
          setOver(mayTake);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Icon name="file" />
        <h2>
          {send.isPending
            ? `Reading ${send.variables.file.name}…`
            : lacksSplit
              ? "Choose its split first: train or test"
              : "Drop a file here"}
        </h2>
        <p className="muted">
          {send.isPending
            ? `${bytes(send.variables.file.size)}. The records appear when the import is complete.`
            : "JSONL (one JSON object per line), JSON, CSV or Parquet. Importing the same file twice adds nothing."}
        </p>
        <button
          type="button"
          className="btn"
          disabled={!mayTake}
          onClick={() => chooser.current?.click()}
        >
          Choose a file
        </button>
        <input
          ref={chooser}
          type="file"
          hidden
          aria-label="File to import"
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
        <Example kind={kind} published={published} />
      </div>
      {send.error !== null && <Failure error={send.error} />}
      {send.isSuccess && (
        <Result result={send.data} projectId={projectId} kind={send.variables.kind} />
      )}
      {/* Out of sight, not gone: what is made meanwhile is looked at, and what was typed stays. */}
      <div className="import" hidden={kind !== "prompts"}>
        <ProblemSetForm projectId={projectId} />
      </div>
    </div>
  );
}
