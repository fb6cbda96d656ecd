/** What can be done to the chosen runs. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type ReactNode } from "react";
import { Link } from "react-router";

import { Problem } from "@/api/client";
import { changeExperiment, createExperiment } from "@/api/experiments";
import { applyVerb, changeRuns } from "@/api/runs";
import type { Experiment, Run } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Failure } from "@/components/states";
import { number, plural } from "@/lib/format";

import {
  CancelDialog,
  ExperimentDialog,
  isCancellable,
  TagDialog,
  type Change,
} from "./bulk-dialogs";
import type { Chosen } from "./use-chosen";

/** Of the comparison; more would be no picture. */
const MOST_COMPARED = 100;
/** Of one request. */
const MOST_CHANGED = 500;
/** In one sentence. */
const MOST_NAMED = 5;

/** A dialog that is open, with the runs that were chosen when it was opened. */
interface Opened {
  readonly kind: "tag" | "experiment" | "cancel";
  readonly runs: readonly Run[];
}

/** A change with its runs: trying again changes these, whichever are chosen by then. */
interface Asked {
  readonly runIds: readonly string[];
  readonly change: Change;
  /** The dialog that asked. */
  readonly by: Opened | null;
}

/** Some runs were not cancelled: which, so that trying again asks for these alone. */
class NotCancelled extends Problem {
  constructor(
    readonly runs: readonly Run[],
    asked: number,
    first: Problem,
  ) {
    const names = runs.slice(0, MOST_NAMED).map(({ name }) => `“${name}”`);
    const more = runs.length > MOST_NAMED ? ` and ${number(runs.length - MOST_NAMED)} more` : "";
    super(first.status, {
      title: `${plural(runs.length, "run")} of ${number(asked)} ${runs.length === 1 ? "was" : "were"} not cancelled`,
      detail: `${names.join(", ")}${more}: ${first.message}`,
      advice: first.advice,
      request_id: first.requestId,
    });
  }
}

/** Cancels one after the other; says which could not be. */
async function cancelAll(runs: readonly Run[]): Promise<void> {
  const failed: Run[] = [];
  let first: Problem | null = null;
  for (const run of runs)
    await applyVerb(run.id, "cancel").catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      failed.push(run);
      first ??= error;
    });
  if (first !== null) throw new NotCancelled(failed, runs.length, first);
}

/** Makes one experiment for a dialog: it is there, and empty, if the runs are refused after it. */
function useNewExperiment(projectId: string) {
  const newest = useRef<{ by: Opened | null; name: string; made: Experiment } | null>(null);
  return async ({ name, key }: NonNullable<Change["newExperiment"]>, by: Opened | null) => {
    const before = newest.current?.by === by ? newest.current : null;
    if (before?.name === name) return before.made;
    const made = await (before === null
      ? createExperiment({ project_id: projectId, name }, key)
      : changeExperiment(before.made.id, { revision: before.made.revision, name }));
    newest.current = { by, name, made };
    return made;
  };
}

/** What shows the runs, or which of them an experiment has. */
const SHOWS_RUNS = ["runs", "run-keys", "experiments", "experiment"];

/** `onDone`: a dialog that was opened while an earlier change was on its way stays open. */
function useBulkChange(
  projectId: string,
  onDone: (by: Opened | null) => void,
  onArchived: (runIds: readonly string[]) => void,
) {
  const client = useQueryClient();
  const newExperiment = useNewExperiment(projectId);
  return useMutation({
    mutationFn: async ({ runIds, change, by }: Asked) => {
      const { newExperiment: wanted, ...rest } = change;
      const made = wanted === undefined ? null : await newExperiment(wanted, by);
      const put = made === null ? {} : { experiment_id: made.id };
      return changeRuns({ run_ids: [...runIds], ...rest, ...put });
    },
    onSuccess: (_, { by, change, runIds }) => {
      onDone(by);
      if (change.archived === true) onArchived(runIds);
    },
    onSettled: (_, refused) => {
      const readAgain = SHOWS_RUNS.map((key) => client.invalidateQueries({ queryKey: [key] }));
      // Why it was refused is told without waiting for them.
      return refused === null ? Promise.all(readAgain) : undefined;
    },
  });
}

const idsOf = (runs: readonly Run[]) => runs.map(({ id }) => id);

/** Shown also when no run is chosen any more: a dialog may be open, and an answer on its way. */
export function BulkBar(props: {
  projectId: string;
  chosen: Chosen;
  mayChange: boolean;
  /** A way to choose more. */
  more?: ReactNode;
  onArchived: (runIds: readonly string[]) => void;
  onClear: () => void;
}) {
  const { projectId, chosen } = props;
  const { runs, waiting } = chosen;
  const client = useQueryClient();
  const [opened, setOpened] = useState<Opened | null>(null);
  const change = useBulkChange(
    projectId,
    (by) => setOpened((now) => (now === by ? null : now)),
    props.onArchived,
  );
  const cancel = useMutation({
    mutationFn: cancelAll,
    onSettled: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
  const ask = (asked: Opened) => (wanted: Change) =>
    change.mutate({ runIds: idsOf(asked.runs), change: wanted, by: asked });
  const isOfDialog = opened !== null && change.variables?.by === opened;
  const isRefused = (change.isError && !isOfDialog) || cancel.isError;
  const clear = () => {
    props.onClear();
    if (change.isError) change.reset();
    if (cancel.isError) cancel.reset();
  };
  return (
    <>
      {(runs.length + waiting > 0 || isRefused) && (
        <section className="bulk-bar" aria-label="Chosen runs">
          {runs.length + waiting > 0 && (
            <span className="nowrap" role="status" title={namesText(chosen.unlisted)}>
              {countText(chosen)}
            </span>
          )}
          {chosen.error !== null && <Failure error={chosen.error} />}
          {runs.length > 0 && waiting === 0 && (
            <Actions
              projectId={projectId}
              runs={runs}
              mayChange={props.mayChange}
              isPending={change.isPending}
              onOpen={(kind) => setOpened({ kind, runs })}
              onChange={(wanted) =>
                change.mutate({ runIds: idsOf(runs), change: wanted, by: null })
              }
            />
          )}
          {props.more}
          <button type="button" className="btn ghost" onClick={clear}>
            Choose none
          </button>
          {!isOfDialog && <RefusedChange asked={change} runs={runs} />}
          <Refused
            asked={
              cancel.error instanceof NotCancelled
                ? { ...cancel, variables: cancel.error.runs }
                : cancel
            }
          />
        </section>
      )}
      {opened !== null && (
        <OpenedDialog
          opened={opened}
          projectId={projectId}
          isPending={change.isPending}
          refused={isOfDialog && <Refused asked={change} />}
          onChange={ask(opened)}
          onCancelRuns={cancel.mutate}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

function countText({ runs, unlisted, waiting }: Chosen): string {
  const hidden = unlisted.length + waiting;
  const said = `${plural(runs.length + waiting, "run")} chosen`;
  return hidden === 0 ? said : `${said}, ${number(hidden)} not listed`;
}

/** Undefined where there are none. */
function namesText(runs: readonly Run[]): string | undefined {
  if (runs.length === 0) return undefined;
  const names = runs.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = runs.length > MOST_NAMED ? ` and ${number(runs.length - MOST_NAMED)} more` : "";
  return `Not listed: ${names.join(", ")}${more}`;
}

/** Says which runs it is about, where others are chosen by now. */
function RefusedChange(props: { asked: ReturnType<typeof useBulkChange>; runs: readonly Run[] }) {
  const { asked, runs } = props;
  const runIds = asked.variables?.runIds ?? [];
  const areChosen = runIds.join() === idsOf(runs).join();
  return (
    <>
      {asked.isError && !areChosen && (
        <span className="small muted">For the {plural(runIds.length, "run")} chosen before:</span>
      )}
      <Refused asked={asked} />
    </>
  );
}

function OpenedDialog(
  props: {
    opened: Opened;
    onCancelRuns: (runs: readonly Run[]) => void;
  } & Omit<Parameters<typeof TagDialog>[0], "runs">,
) {
  const { opened, onCancelRuns, ...rest } = props;
  const { kind, runs } = opened;
  if (kind === "tag") return <TagDialog {...rest} runs={runs} />;
  if (kind === "experiment") return <ExperimentDialog {...rest} runs={runs} />;
  return (
    <CancelDialog
      runs={runs}
      onClose={rest.onClose}
      onCancelRuns={(cancellable) => {
        rest.onClose();
        onCancelRuns(cancellable);
      }}
    />
  );
}

function Actions(props: {
  projectId: string;
  runs: readonly Run[];
  mayChange: boolean;
  isPending: boolean;
  onOpen: (kind: Opened["kind"]) => void;
  onChange: (change: Change) => void;
}) {
  const { projectId, runs, onOpen } = props;
  const ids = idsOf(runs);
  const cancellable = runs.filter(isCancellable);
  const areArchived = runs.every((run) => run.archived_at !== null);
  const mayArchive = runs.every(
    (run) => run.allowed.includes("archive") && run.archived_at === null,
  );
  const isTooEarly = !areArchived && !mayArchive;
  return (
    <>
      {runs.length > 1 && runs.length <= MOST_COMPARED && (
        <Link className="btn primary" to={`/projects/${projectId}/compare?runs=${ids.join(",")}`}>
          Compare {plural(runs.length, "run")}
        </Link>
      )}
      {runs.length > MOST_COMPARED && (
        <span className="small muted">Choose at most {MOST_COMPARED} to compare them.</span>
      )}
      {!props.mayChange ? null : ids.length > MOST_CHANGED ? (
        <span className="small muted">Choose at most {MOST_CHANGED} to change them.</span>
      ) : (
        <>
          <button type="button" className="btn" onClick={() => onOpen("tag")}>
            Tag…
          </button>
          <button type="button" className="btn" onClick={() => onOpen("experiment")}>
            Experiment…
          </button>
          <PendingButton
            isPending={props.isPending || isTooEarly}
            title={
              isTooEarly
                ? "Only runs that are over and not archived yet can be archived."
                : undefined
            }
            onPress={() => props.onChange({ archived: !areArchived })}
          >
            {areArchived ? "Restore" : "Archive"}
          </PendingButton>
          {cancellable.length > 0 && (
            <button type="button" className="btn danger" onClick={() => onOpen("cancel")}>
              Cancel {plural(cancellable.length, "run")}…
            </button>
          )}
        </>
      )}
    </>
  );
}
