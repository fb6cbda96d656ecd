/** Drop a file, see what each row became. Good records go in, bad ones come back with a reason. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type DragEvent } from "react";

import { importFile, type ImportKind, type Published } from "@/api/projects";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Failure } from "@/components/states";
import { bytes, number, plural } from "@/lib/format";

import { chosenFolder, droppedFolder, type Folder } from "./folder/chosen";
import { importFolder } from "./folder/send";
import { ImportOutcome, type Imported } from "./import-result";
import { ProblemSetForm } from "./making/problem-set-form";
import { PUBLISHED_EXAMPLES, PublishedFields } from "./published-fields";

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

const FORMATS = ["auto", "native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"];

/** What is sent stays as it was asked for, whatever is chosen while it is read. */
interface Asked {
  readonly source: File | Folder;
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
      {published !== null && (
        <p className="small muted">
          JSONL, a JSON array or Parquet; or a folder with one JSON file for each problem, as MATH
          was published (unpack it first). Of a folder with both <code>train</code> and{" "}
          <code>test</code> only the split that you have chosen comes in.
        </p>
      )}
    </>
  );
}

/** How much of a folder has been read, of how many files; null before that is known. */
type HowFar = readonly [number, number] | null;

const isFolder = (source: File | Folder): source is Folder => "files" in source;

/** Send what was asked for; `onRead` is told how much of a folder has been read. */
async function imported(
  projectId: string,
  { source, kind, format, published }: Asked,
  onRead: (howFar: HowFar) => void,
): Promise<Imported> {
  if (!isFolder(source)) {
    const counts = await importFile(projectId, kind, format, source, published);
    return { counts, kind, folder: null };
  }
  onRead(null);
  const { counts, ...folder } = await importFolder(projectId, source, published, (count, total) =>
    onRead([count, total]),
  );
  return { counts, kind, folder };
}

function whatIsDone(source: File | Folder, howFar: HowFar): string {
  const then = "The records appear when the import is complete.";
  if (!isFolder(source)) return `${bytes(source.size)}. ${then}`;
  if (howFar === null) return "Looking for its files.";
  const [read, total] = howFar;
  return read < total
    ? `${number(read)} of ${plural(total, "file")} read.`
    : `${plural(total, "file")} read. ${then}`;
}

export function ImportTab({ projectId }: { projectId: string }) {
  const [kind, setKind] = useState<ImportKind>("prompts");
  const [format, setFormat] = useState("auto");
  const [chosen, setPublished] = useState<Published | null>(null);
  const published = kind === "prompts" ? chosen : null;
  // A test file that came in as train would be trained on: nobody guesses.
  const lacksSplit = published !== null && published.split === null;
  const [isOver, setOver] = useState(false);
  const [howFar, setHowFar] = useState<HowFar>(null);
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: (asked: Asked) => imported(projectId, asked, setHowFar),
    onSuccess: () => client.invalidateQueries({ queryKey: ["project", projectId] }),
  });
  const mayTake = !send.isPending && !lacksSplit;
  const take = (source: File | Folder | null | undefined) => {
    // One at a time: the result of the one before, with its rejected rows, would never be shown.
    if (source != null && mayTake) send.mutate({ source, kind, format, published });
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(droppedFolder(event.dataTransfer.items) ?? event.dataTransfer.files[0]);
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
            ? `Reading ${send.variables.source.name}…`
            : lacksSplit
              ? "Choose its split first: train or test"
              : `Drop a file ${published === null ? "" : "or folder "}here`}
        </h2>
        <p className="muted">
          {send.isPending
            ? whatIsDone(send.variables.source, howFar)
            : "JSONL (one JSON object per line), JSON, CSV or Parquet. Importing the same file twice adds nothing."}
        </p>
        <div className="row">
          <Chooser
            words="Choose a file"
            label="File to import"
            isDisabled={!mayTake}
            onChoose={(files) => take(files?.[0])}
          />
          {published !== null && (
            <Chooser
              words="Choose a folder"
              label="Folder to import"
              ofFolders
              isDisabled={!mayTake}
              onChoose={(files) => take(chosenFolder(files))}
            />
          )}
        </div>
        <Example kind={kind} published={published} />
      </div>
      {send.error !== null && <Failure error={send.error} />}
      {send.isSuccess && <ImportOutcome projectId={projectId} {...send.data} />}
      {/* Out of sight, not gone: what is made meanwhile is looked at, and what was typed stays. */}
      <div className="import" hidden={kind !== "prompts"}>
        <ProblemSetForm projectId={projectId} />
      </div>
    </div>
  );
}

/** A button and the field that it opens. */
function Chooser(props: {
  words: string;
  label: string;
  ofFolders?: boolean;
  isDisabled: boolean;
  onChoose: (files: FileList | null) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="btn"
        disabled={props.isDisabled}
        onClick={() => field.current?.click()}
      >
        {props.words}
      </button>
      <input
        ref={field}
        type="file"
        hidden
        {...(props.ofFolders === true && { webkitdirectory: "" })}
        aria-label={props.label}
        onChange={(event) => {
          props.onChoose(event.target.files);
          event.target.value = "";
        }}
      />
    </>
  );
}
