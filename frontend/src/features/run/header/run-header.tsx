/** Who this run is, where it stands, and what can be done to it. */
import { useState } from "react";
import { Link } from "react-router";

import { applyVerb, retryRun, type Verb } from "@/api/runs";
import type { StreamStatus } from "@/api/stream/messages";
import type { Run } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Dialog } from "@/components/dialog";
import { Icon, type IconName } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { Pruned } from "@/components/pruned";
import { Refused } from "@/components/refused";
import { percentOf } from "@/components/run-list/progress-bar";
import { timeLeft } from "@/components/run-list/time-left";
import { NameAndTags } from "@/components/run-edit/name-and-tags";
import { useMayChange } from "@/components/use-may";
import { StatePill } from "@/components/run-state";
import { Ago, useNow } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { MethodName } from "@/components/text/names";
import { PlainText } from "@/components/text/plain-text";
import { PageTitle } from "@/components/page-title";
import { ContinueLink } from "@/features/run/continue-link";
import { canBeCancelled, mayMoveOn, cancelPrompt, timeWords } from "@/features/run/run-status";
import { number, plural, shortId, words } from "@/lib/format";

import { CompareLinks } from "./compare-links";
import { ExperimentLink } from "./experiment-link";
import { FailurePanel } from "./failure-panel";
import { MeasuredModels } from "./measured-models";
import { useRunAction } from "./use-run-action";

const VERBS: readonly (readonly [Verb, string, IconName])[] = [
  ["pause", "Pause", "pause"],
  ["resume", "Resume", "play"],
  ["retry", "Retry", "retry"],
  ["cancel", "Cancel", "stop"],
];

function CancelDialog(props: { run: Run; onCancelRun: () => void; onClose: () => void }) {
  const { text, keep } = cancelPrompt(props.run);
  return (
    <Dialog
      title={`Cancel ${props.run.name}?`}
      onClose={props.onClose}
      footer={
        <>
          <button type="button" className="btn" onClick={props.onClose}>
            {keep}
          </button>
          <button type="button" className="btn danger" onClick={props.onCancelRun}>
            <Icon name="stop" /> Cancel the run
          </button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}

function Actions({ run }: { run: Run }) {
  const [isAsking, setAsking] = useState(false);
  const isPruned = run.pruned_at !== null;
  const act = useRunAction((verb: Verb) =>
    verb === "retry" && isPruned ? retryRun(run.id, "start") : applyVerb(run.id, verb),
  );
  const isOffered: Partial<Record<Verb, boolean>> = {
    cancel: canBeCancelled(run),
    // A run that ended badly has its retry in the failure panel.
    retry: run.error === null,
  };
  const verbs = VERBS.filter(([verb]) => run.allowed.includes(verb) && isOffered[verb] !== false);
  return (
    <div className="actions">
      {verbs.map(([verb, label, icon]) => (
        <PendingButton
          key={verb}
          className={verb === "cancel" ? "btn danger" : "btn"}
          isPending={act.isPending}
          onPress={() => (verb === "cancel" ? setAsking(true) : act.mutate(verb))}
        >
          <Icon name={icon} /> {verb === "retry" && isPruned ? "Restart from the beginning" : label}
        </PendingButton>
      ))}
      <Link className="btn" to={`/projects/${run.project_id}/runs/new?from=${run.id}`}>
        <Icon name="copy" /> Clone
      </Link>
      <ContinueFromBest run={run} />
      {(run.archived_at !== null || run.allowed.includes("archive")) && (
        <PendingButton
          isPending={act.isPending}
          onPress={() => act.mutate(run.archived_at === null ? "archive" : "restore")}
        >
          {run.archived_at === null ? "Archive" : "Restore"}
        </PendingButton>
      )}
      {isAsking && (
        <CancelDialog
          run={run}
          onClose={() => setAsking(false)}
          onCancelRun={() => {
            setAsking(false);
            act.mutate("cancel");
          }}
        />
      )}
      <Refused asked={act} />
    </div>
  );
}

type Continued = Pick<Run, "id" | "project_id" | "best_checkpoint_step" | "checkpoint_step">;

/** The best checkpoint comes before the newest, which may be worse; their page has all of them. */
export function ContinueFromBest({ run }: { run: Continued }) {
  const step = run.best_checkpoint_step ?? run.checkpoint_step;
  if (step === null) return null;
  const isBest = run.best_checkpoint_step !== null && step !== run.checkpoint_step;
  return (
    <ContinueLink run={run} step={step}>
      Continue from step {number(step)}
      {isBest && " (best by its own evaluation)"} as a new run…
    </ContinueLink>
  );
}

const LIVE: Readonly<Record<StreamStatus, readonly [string, string]>> = {
  live: ["good", "live"],
  connecting: ["faint", "connecting"],
  waiting: ["warn", "no connection, reconnecting"],
  "signed-out": ["warn", "signed out"],
  gone: ["warn", "live updates unavailable"],
};

export function LiveStatus({ status }: { status: StreamStatus }) {
  const [tone, text] = LIVE[status];
  return (
    <span className={`live ${tone}`} role="status">
      {text}
    </span>
  );
}

function ProgressLine({ run }: { run: Run }) {
  const { step, steps, phase } = run.progress;
  const speed = run.summary["tokens_per_s"];
  const isRunning = run.state === "running";
  const parts = [
    steps > 0 ? `step ${number(step)} / ${number(steps)}` : null,
    isRunning && phase ? words(phase) : null,
    isRunning ? timeLeft(run.progress) : null,
    isRunning && speed != null ? `${number(Math.round(speed))} tokens/s` : null,
  ];
  return (
    <div className="progress">
      <div
        className="bar"
        role="progressbar"
        aria-label="Progress"
        aria-valuenow={step}
        aria-valuemin={0}
        aria-valuemax={Math.max(1, steps)}
      >
        <i style={{ width: `${percentOf(run)}%` }} />
      </div>
      <span className="small muted mono nowrap">
        {parts.filter((part) => part !== null).join(" · ") ||
          (run.started_at === null ? "not started" : "no step finished")}
      </span>
    </div>
  );
}

function RunDuration({ run }: { run: Run }) {
  const now = useNow();
  if (run.started_at === null)
    return (
      <span>
        created <Ago at={run.created_at} />
      </span>
    );
  const since = new Date(run.started_at).toLocaleString();
  return (
    <span
      title={
        run.attempt > 1
          ? `First started ${since}. A duration is that of the last attempt alone.`
          : `Started ${since}.`
      }
    >
      {timeWords(run, run.started_at, now)}
    </span>
  );
}

/** The name, and its tags; both become fields where they stand. */
function RunName({ run, mayChange }: { run: Run; mayChange: boolean }) {
  const [isEdited, setEdited] = useState(false);
  if (isEdited)
    return (
      <>
        <PageTitle>{run.name}</PageTitle>
        <NameAndTags run={run} onClose={() => setEdited(false)} />
      </>
    );
  return (
    <div className="run-name">
      <PageTitle>{run.name}</PageTitle>
      <h1>{run.name}</h1>
      {mayChange && (
        <button
          type="button"
          className="btn ghost icon"
          aria-label="Edit the name and tags"
          onClick={() => setEdited(true)}
        >
          <Icon name="note" />
        </button>
      )}
    </div>
  );
}

export function RunHeader({ run, status }: { run: Run; status: StreamStatus }) {
  const mayChange = useMayChange(run.project_id);
  return (
    <>
      <div className="run-head">
        <div ref={keepFocus}>
          <RunName run={run} mayChange={mayChange} />
          <div className="meta">
            <StatePill state={run.state} title={run.state_sentence} />
            <span className="tag">
              <MethodName run={run} />
            </span>
            <Copyable text={run.id} shown={shortId(run.id)} label="run id" />
            <span className="small muted">
              {run.attempt > 0 && `${plural(run.attempt, "attempt")}, `}
              <RunDuration run={run} />
            </span>
            {run.parent_id !== null && (
              <Link className="small" to={`/projects/${run.project_id}/runs/${run.parent_id}`}>
                {run.parent_step === null
                  ? "clone of another run"
                  : `continues from step ${number(run.parent_step)} of another run`}
              </Link>
            )}
            <MeasuredModels run={run} />
            <ExperimentLink run={run} />
            <CompareLinks run={run} />
            {run.tags.map((tag) => (
              <span className="tag" key={tag}>
                <PlainText text={tag} />
              </span>
            ))}
            {run.archived_at !== null && <span className="small muted">archived</span>}
            {mayMoveOn(run.state) && <LiveStatus status={status} />}
          </div>
        </div>
        {mayChange && <Actions run={run} />}
      </div>
      <ProgressLine run={run} />
      {run.pruned_at !== null && (
        <Pruned at={run.pruned_at}>
          Curves, samples, logs and the listed checkpoints are kept.
        </Pruned>
      )}
      <FailurePanel run={run} />
    </>
  );
}
