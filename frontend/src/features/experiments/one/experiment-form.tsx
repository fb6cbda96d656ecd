/** The texts of an experiment as they are written; nobody's change is overwritten unseen. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { isConflict } from "@/api/client";
import { changeExperiment, experimentQuery } from "@/api/experiments";
import { meQuery } from "@/api/session";
import type { Experiment } from "@/api/types";
import { NameField } from "@/components/form/create-form";
import { Field } from "@/components/form/field";
import { useSending } from "@/components/form/use-sending";
import { Segmented } from "@/components/segmented";
import { Failure } from "@/components/states";
import { Markdown } from "@/components/text/markdown";
import { PlainText } from "@/components/text/plain-text";

import { draftOf, dropDraft, dropSent, keepDraft } from "./draft";
import { changesOf, FIELDS, rebased, textsOf, type Texts } from "./texts";

interface TextField {
  readonly label: string;
  readonly hint: string;
  readonly rows: number;
  readonly most: number;
}

const SHORT_TEXTS: readonly (readonly [keyof Texts, TextField])[] = [
  ["question", { label: "Question", hint: "What do you want to know?", rows: 2, most: 2000 }],
  [
    "hypothesis",
    {
      label: "Hypothesis (optional)",
      hint: "What do you expect, and why? Write it before you see any result.",
      rows: 2,
      most: 2000,
    },
  ],
  [
    "conclusion",
    {
      label: "Conclusion",
      hint: "What do you know now? Markdown works. An experiment without a conclusion is open.",
      rows: 3,
      most: 5000,
    },
  ],
];

function Text(props: TextField & { value: string; onChange: (value: string) => void }) {
  const { label, hint, value, onChange, rows, most } = props;
  const left = most - value.length;
  const few = left < most / 10 ? `${left.toLocaleString("en-US")} characters left.` : undefined;
  return (
    <Field label={label} hint={few ?? hint}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          dir="auto"
          rows={rows}
          maxLength={most}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function Notes({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [shown, setShown] = useState<"write" | "read">("write");
  return (
    <div className="stack notes-field">
      <Segmented
        label="Notes as"
        value={shown}
        options={[
          ["write", "Write notes"],
          ["read", "Preview"],
        ]}
        onChange={setShown}
      />
      {shown === "write" ? (
        <Text
          label="Notes"
          hint="Markdown, formulas and tables included."
          rows={10}
          most={50_000}
          value={value}
          onChange={onChange}
        />
      ) : (
        <Markdown text={value || "*No notes.*"} />
      )}
    </div>
  );
}

/** Somebody else was faster: what they wrote, before one's own may replace it. */
function Newer(props: { newest: Texts; typed: Texts; before: Texts }) {
  const { newest, typed, before } = props;
  const theirs = FIELDS.filter(
    (name) => newest[name] !== typed[name] && newest[name] !== before[name],
  );
  return (
    <div className="note warn" role="alert">
      <div className="grow">
        <b>Somebody changed this experiment while you wrote.</b>{" "}
        {theirs.length === 0
          ? "Fields that you did not edit show the other person's text now. Save again."
          : "Fields that you did not edit show the other person's text now. Compare the rest before you save yours."}
        {theirs.map((name) => (
          <details key={name}>
            <summary>Theirs: {name}</summary>
            <p className="plain" dir="auto">
              <PlainText text={newest[name] || "(empty)"} />
            </p>
          </details>
        ))}
      </div>
    </div>
  );
}

const changeOf = (typed: Texts, from: Experiment) =>
  changesOf({ ...typed, name: typed.name.trim() }, textsOf(from));

export function ExperimentForm(props: { experiment: Experiment; onClose: () => void }) {
  const { experiment, onClose } = props;
  const client = useQueryClient();
  // What is on screen was made from this one, whatever comes meanwhile.
  const userId = useQuery(meQuery).data?.id ?? "";
  const [draft] = useState(() => draftOf([userId, experiment.id]));
  const [from, setFrom] = useState<Experiment>(
    draft === null ? experiment : { ...experiment, ...draft.from, revision: draft.revision },
  );
  const [before, setBefore] = useState(textsOf(experiment));
  const [typed, setTyped] = useState(draft?.typed ?? textsOf(experiment));
  useEffect(() => {
    keepDraft([userId, experiment.id], { typed, from: textsOf(from), revision: from.revision });
  }, [userId, experiment.id, typed, from]);
  const close = () => {
    dropDraft([userId, experiment.id]);
    onClose();
  };
  // The conflict of which the other person's texts are here.
  const [told, setTold] = useState<Error | null>(null);
  const query = experimentQuery(experiment.id);
  const latest = useRef(typed);
  useEffect(() => {
    latest.current = typed;
  });
  const saving = useSending(
    `The change of the experiment “${experiment.name}” was not saved.`,
    {
      mutationFn: (sent: Texts) =>
        changeExperiment(experiment.id, { revision: from.revision, ...changeOf(sent, from) }),
      onSuccess: async (saved, sent) => {
        dropSent([userId, experiment.id], sent);
        await showAnswer(client, query, saved);
        await client.invalidateQueries({ queryKey: ["experiments", experiment.project_id] });
      },
      onError: async (error) => {
        if (!isConflict(error)) return;
        const newest = await client.fetchQuery({ ...query, staleTime: 0 });
        // More may have been typed while it was fetched.
        setTyped((now) => rebased(now, textsOf(from), textsOf(newest)));
        setBefore(textsOf(from));
        setFrom(newest);
        setTold(error);
      },
    },
    (saved, sent) => {
      if (Object.keys(changesOf(latest.current, sent)).length === 0) return onClose();
      setTyped((now) => rebased(now, sent, textsOf(saved)));
      setFrom(saved);
    },
  );
  const isOvertaken = saving.error !== null && saving.error === told;
  const set = (name: keyof Texts) => (value: string) =>
    setTyped((now) => ({ ...now, [name]: value }));
  return (
    <form
      className="card padded form"
      aria-label="Experiment"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(typed);
      }}
    >
      {draft !== null && (
        <p className="small muted" role="status">
          Your unsaved text is restored. Cancel discards it.
        </p>
      )}
      <NameField value={typed.name} onChange={set("name")} />
      {SHORT_TEXTS.map(([name, field]) => (
        <Text key={name} {...field} value={typed[name]} onChange={set(name)} />
      ))}
      <Notes value={typed.notes} onChange={set("notes")} />
      {isOvertaken && <Newer newest={from} typed={typed} before={before} />}
      {saving.error !== null && !isOvertaken && <Failure error={saving.error} />}
      <div className="row">
        <button
          type="submit"
          className="btn primary"
          disabled={saving.isPending || typed.name.trim() === ""}
        >
          {saving.isPending ? "Saving…" : isOvertaken ? "Save mine instead" : "Save"}
        </button>
        <button type="button" className="btn" onClick={close}>
          Cancel
        </button>
        {saving.isSuccess && (
          <span className="small muted" role="status">
            Saved, except what you have typed since.
          </span>
        )}
      </div>
    </form>
  );
}
