/** What can be done to the chosen runs. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { experimentsQuery } from "@/api/experiments";
import { applyVerb, changeRuns, runKeysQuery } from "@/api/runs";
import type { Run, RunsChange } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/pending-button";
import { Refused } from "@/components/refused";
import { plural } from "@/lib/format";

/** Of the comparison; more would be no picture. */
const MOST_COMPARED = 100;
/** Of one request. */
const MOST_CHANGED = 500;

type Change = Partial<RunsChange>;

/** Cancels one after the other; says how many could not be. */
async function cancelAll(runs: readonly Run[]): Promise<void> {
  const failed: Error[] = [];
  for (const run of runs)
    await applyVerb(run.id, "cancel").catch((error: unknown) => {
      failed.push(error instanceof Error ? error : new Error(String(error)));
    });
  const [first] = failed;
  if (first !== undefined)
    throw new Error(
      `${runs.length - failed.length} of ${runs.length} runs were cancelled. First error: ` +
        first.message,
    );
}

export function BulkBar(props: {
  projectId: string;
  /** The chosen runs that are on screen. */
  runs: readonly Run[];
  mayChange: boolean;
  onClear: () => void;
}) {
  const { projectId, runs, onClear } = props;
  const client = useQueryClient();
  const [asked, setAsked] = useState<"tag" | "experiment" | "cancel" | null>(null);
  const close = () => setAsked(null);
  const onSuccess = () => client.invalidateQueries({ queryKey: ["runs"] });
  const ids = runs.map(({ id }) => id);
  const change = useMutation({
    mutationFn: (body: Change) => changeRuns({ run_ids: ids, ...body }),
    onSuccess: async () => {
      close();
      await Promise.all([onSuccess(), client.invalidateQueries({ queryKey: ["run-keys"] })]);
    },
  });
  const cancel = useMutation({ mutationFn: cancelAll, onSettled: onSuccess });
  const cancellable = runs.filter(({ allowed }) => allowed.includes("cancel"));
  const archivable = runs.filter(
    (run) => run.allowed.includes("archive") && run.archived_at === null,
  );
  const areArchived = runs.every((run) => run.archived_at !== null);
  const isTooMany = ids.length > MOST_CHANGED;
  return (
    <section className="bulk-bar" aria-label="Chosen runs">
      <span className="nowrap" role="status">
        {plural(runs.length, "run")} chosen
      </span>
      {runs.length > 1 && runs.length <= MOST_COMPARED && (
        <Link className="btn primary" to={`/projects/${projectId}/compare?runs=${ids.join(",")}`}>
          Compare {plural(runs.length, "run")}
        </Link>
      )}
      {!props.mayChange ? null : isTooMany ? (
        <span className="small muted">Choose at most {MOST_CHANGED} to change them.</span>
      ) : (
        <>
          <button type="button" className="btn" onClick={() => setAsked("tag")}>
            Tag…
          </button>
          <button type="button" className="btn" onClick={() => setAsked("experiment")}>
            Experiment…
          </button>
          <PendingButton
            isPending={change.isPending || (!areArchived && archivable.length < runs.length)}
            title={
              !areArchived && archivable.length < runs.length
                ? "Only runs that are over and not archived yet can be archived."
                : undefined
            }
            onPress={() => change.mutate({ archived: !areArchived })}
          >
            {areArchived ? "Restore" : "Archive"}
          </PendingButton>
          {cancellable.length > 0 && (
            <button type="button" className="btn danger" onClick={() => setAsked("cancel")}>
              Cancel {plural(cancellable.length, "run")}…
            </button>
          )}
        </>
      )}
      <button type="button" className="btn ghost" onClick={onClear}>
        Clear
      </button>
      <Refused asked={change} />
      <Refused asked={cancel} />
      {asked === "tag" && (
        <TagDialog
          projectId={projectId}
          runs={runs}
          isPending={change.isPending}
          onTag={change.mutate}
          onClose={close}
        />
      )}
      {asked === "experiment" && (
        <ExperimentDialog
          projectId={projectId}
          n={runs.length}
          isPending={change.isPending}
          onChoose={(experimentId) => change.mutate({ experiment_id: experimentId })}
          onClose={close}
        />
      )}
      {asked === "cancel" && (
        <Dialog
          title={`Cancel ${plural(cancellable.length, "run")}?`}
          onClose={close}
          footer={
            <>
              <button type="button" className="btn" onClick={close}>
                Keep them
              </button>
              <button
                type="button"
                className="btn danger"
                onClick={() => {
                  close();
                  cancel.mutate(cancellable);
                }}
              >
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
      )}
    </section>
  );
}

function TagDialog(props: {
  projectId: string;
  runs: readonly Run[];
  isPending: boolean;
  onTag: (change: Change) => void;
  onClose: () => void;
}) {
  const { runs, onTag, isPending } = props;
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
          onPress={() => onTag({ add_tags: [tag] })}
        >
          Add the tag
        </PendingButton>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (tag !== "" && !isPending) onTag({ add_tags: [tag] });
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
                onPress={() => onTag({ remove_tags: [one] })}
              >
                {one} <Icon name="close" />
              </PendingButton>
            ))}
          </div>
        </div>
      )}
    </Dialog>
  );
}

function ExperimentDialog(props: {
  projectId: string;
  n: number;
  isPending: boolean;
  onChoose: (experimentId: string | null) => void;
  onClose: () => void;
}) {
  const experiments = useQuery(experimentsQuery(props.projectId)).data?.items ?? [];
  const [chosen, setChosen] = useState("");
  return (
    <Dialog
      title={`Put ${plural(props.n, "run")} into an experiment`}
      onClose={props.onClose}
      footer={
        <PendingButton
          className="btn primary"
          isPending={props.isPending}
          onPress={() => props.onChoose(chosen === "" ? null : chosen)}
        >
          {chosen === "" ? "Take them out" : "Put them there"}
        </PendingButton>
      }
    >
      <select
        className="input"
        aria-label="Experiment"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
      >
        <option value="">No experiment</option>
        {experiments.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </Dialog>
  );
}
