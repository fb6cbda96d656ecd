/** What is asked before the chosen runs are changed: a tag, an experiment, whether to cancel them. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { experimentsQuery } from "@/api/experiments";
import { runKeysQuery } from "@/api/runs";
import type { Run, RunsChange } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Missing } from "@/components/states";
import { PlainText } from "@/components/text/plain-text";
import { plural } from "@/lib/format";
import { randomId } from "@/lib/random-id";

export type Change = Partial<Omit<RunsChange, "run_ids">> & {
  /** An experiment that is made first; with the key, it is made once if its answer is lost. */
  readonly newExperiment?: { readonly name: string; readonly key: string };
};

interface ChangeDialogProps {
  readonly projectId: string;
  /** Those that were chosen when it was opened, whatever leaves the list meanwhile. */
  readonly runs: readonly Run[];
  readonly isPending: boolean;
  /** Why it was not done, if it was not. */
  readonly refused: ReactNode;
  readonly onChange: (change: Change) => void;
  readonly onClose: () => void;
}

export const isCancellable = (run: Run) => run.allowed.includes("cancel");

export function CancelDialog(props: {
  runs: readonly Run[];
  onCancelRuns: (runs: readonly Run[]) => void;
  onClose: () => void;
}) {
  const { runs, onCancelRuns, onClose } = props;
  const cancellable = runs.filter(isCancellable);
  return (
    <Dialog
      title={`Cancel ${plural(cancellable.length, "run")}?`}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Keep them
          </button>
          <button type="button" className="btn danger" onClick={() => onCancelRuns(cancellable)}>
            <Icon name="stop" /> Cancel {plural(cancellable.length, "run")}
          </button>
        </>
      }
    >
      <p>
        Running runs stop at their next safe point. Those that train write a checkpoint first;
        generate and evaluate runs lose their work so far. Retry queues a cancelled run again.
        {cancellable.length < runs.length &&
          ` ${plural(runs.length - cancellable.length, "chosen run")} cannot be cancelled.`}
      </p>
    </Dialog>
  );
}

export function TagDialog(props: ChangeDialogProps) {
  const { runs, onChange, isPending } = props;
  const [text, setText] = useState("");
  const known = useQuery(runKeysQuery(props.projectId)).data?.tags ?? [];
  const held = [...new Set(runs.flatMap(({ tags }) => tags))];
  const tag = text.trim();
  return (
    <Dialog
      title={`Tag ${plural(runs.length, "run")}`}
      onClose={props.onClose}
      footer={
        <PendingButton
          className="btn primary"
          isPending={isPending || tag === ""}
          onPress={() => onChange({ add_tags: [tag] })}
        >
          Add the tag
        </PendingButton>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (tag !== "" && !isPending) onChange({ add_tags: [tag] });
        }}
      >
        <input
          className="input"
          aria-label="Tag"
          placeholder="Such as baseline"
          list="known-tags"
          maxLength={200}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <datalist id="known-tags">
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </form>
      {props.refused}
      {held.length > 0 && (
        <div className="held-tags">
          <p className="small muted">Remove from all of them:</p>
          <div className="row">
            {held.map((one) => (
              <PendingButton
                key={one}
                className="tag"
                aria-label={`Remove the tag ${one}`}
                isPending={isPending}
                onPress={() => onChange({ remove_tags: [one] })}
              >
                <PlainText text={one} /> <Icon name="close" />
              </PendingButton>
            ))}
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** No id looks like these. */
const NO_EXPERIMENT = "none";
const NEW_EXPERIMENT = "new";

const VERBS: Readonly<Record<string, string>> = {
  [NO_EXPERIMENT]: "Remove from their experiments",
  [NEW_EXPERIMENT]: "Create it and move the runs",
};

/** Nothing is chosen at first: Enter must not take runs out of their experiments. */
export function ExperimentDialog(props: ChangeDialogProps) {
  const experiments = useQuery(experimentsQuery(props.projectId));
  const [chosen, setChosen] = useState("");
  // Another name is another experiment.
  const [named, setNamed] = useState({ name: "", key: "" });
  const name = named.name.trim();
  const isNew = chosen === NEW_EXPERIMENT;
  const isComplete = isNew ? name !== "" : chosen !== "";
  const change = (): Change => {
    if (isNew) return { newExperiment: { name, key: named.key } };
    return { experiment_id: chosen === NO_EXPERIMENT ? null : chosen };
  };
  const send = () => {
    if (isComplete && !props.isPending) props.onChange(change());
  };
  return (
    <Dialog
      title={`Put ${plural(props.runs.length, "run")} into an experiment`}
      onClose={props.onClose}
      footer={
        <PendingButton
          className="btn primary"
          isPending={props.isPending || !isComplete}
          onPress={send}
        >
          {VERBS[chosen] ?? "Move to this experiment"}
        </PendingButton>
      }
    >
      <select
        className="input"
        aria-label="Experiment"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
      >
        <option value="" disabled hidden>
          Choose…
        </option>
        <option value={NO_EXPERIMENT}>No experiment</option>
        <option value={NEW_EXPERIMENT}>New experiment…</option>
        {experiments.data?.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {isNew && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <input
            className="input"
            aria-label="Name of the new experiment"
            placeholder="Name of the new experiment"
            maxLength={200}
            value={named.name}
            onChange={({ target }) => setNamed({ name: target.value, key: randomId() })}
          />
        </form>
      )}
      <Missing query={experiments} what="The experiments" />
      {props.refused}
    </Dialog>
  );
}
