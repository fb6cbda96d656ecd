/** What the head of a run's page says of where the run stands, true in every state. Pure. */
import type { Run, RunError } from "@/api/types";
import { isLive } from "@/components/run-list/batches";
import { ago, duration, number } from "@/lib/format";

const OVER: ReadonlySet<Run["state"]> = new Set(["succeeded", "failed", "cancelled"]);

/** A run that trains nothing writes no checkpoint: each attempt begins again. */
export const isSampler = ({ result }: Pick<Run, "result">): boolean =>
  result === "responses" || result === "numbers";

/** Whether there is more to come by itself: a crashed run is tried again, a failed one is not. */
export function mayMoveOn(state: Run["state"]): boolean {
  return !OVER.has(state);
}

/** Stopping a run a second time for the same reason would do nothing. */
export function canBeCancelled({ allowed, stop_reason: reason, state }: Run): boolean {
  return allowed.includes("cancel") && !(state === "stopping" && reason === "cancel");
}

export interface CancelPrompt {
  /** What stopping does to this run. */
  readonly text: string;
  /** The button that stops nothing. */
  readonly keep: string;
}

/** What to ask before a run is stopped for good. */
export function cancelPrompt(run: Run): CancelPrompt {
  const { step, steps } = run.progress;
  const at = `at step ${number(step)}${steps > 0 ? ` of ${number(steps)}` : ""}`;
  const hasCheckpoint = run.pruned_at === null && run.checkpoint_step !== null;
  const after = hasCheckpoint
    ? "Retry resumes from its last checkpoint."
    : "Retry restarts it from the beginning.";
  switch (run.state) {
    case "running":
      if (isSampler(run)) return { text: `The run is ${at}. ${SAVES_NOTHING}`, keep: KEEP };
      return { text: step > 0 ? `The run is ${at}. ${WRITES}` : UNFINISHED, keep: KEEP };
    case "stopping":
      return { text: `${run.state_sentence} ${INSTEAD}`, keep: "Keep it as it is" };
    case "crashed":
      return {
        text: run.is_retried
          ? `The run crashed ${at}. If you cancel it, Podium does not retry it automatically. ${after}`
          : `The run crashed ${at}. Podium does not retry it automatically. If you cancel it, it ends as cancelled; you can still retry it. ${after}`,
        keep: "Keep it as it is",
      };
    case "paused":
      return {
        text:
          run.attempt > 0
            ? `The run is paused ${at}. If you cancel it, you can still retry it. ${after}`
            : UNBEGUN,
        keep: "Keep it paused",
      };
    default:
      return {
        text:
          run.attempt > 0
            ? `The run waits for a worker ${at}. If you cancel it, it leaves the queue. ${after}`
            : UNBEGUN,
        keep: "Keep it queued",
      };
  }
}

const KEEP = "Keep it running";
const UNBEGUN = "The run has not started. If you cancel it, Retry puts it back into the queue.";
const UNFINISHED =
  "The run has not finished a step yet. If you cancel it, Retry starts where this attempt started.";
const WRITES =
  "If you cancel it, the trainer writes a checkpoint of its last finished step and stops. Retry resumes from that checkpoint.";
const SAVES_NOTHING =
  "If you cancel it, its work so far is lost, and Retry restarts it from the beginning.";
const INSTEAD =
  "If you cancel it, it ends as cancelled instead. Retry puts it back into the queue.";

/** Why a run has no checkpoints. */
export function noCheckpoints(run: Run): string {
  if (run.pruned_at !== null)
    return "The checkpoints were deleted with the other files of this run. None was pinned.";
  if (isSampler(run)) return "This run trains nothing, so it writes no checkpoints.";
  return "A run writes a checkpoint every `checkpoint_every` steps, by default at least every 10 minutes, and when it is asked to stop.";
}

/** What the message above the tabs tells of an end that nobody has explained, or somebody has. */
const above = (error: RunError): string =>
  error.cause === "unexplained"
    ? "The message above says what is known of its end."
    : "The message above says why.";

/** Why a run that is over has no metrics. */
export function noMetrics(run: Run): string {
  if (run.error !== null) return `The run ended before it reported a metric. ${above(run.error)}`;
  if (run.state === "cancelled") return "The run was cancelled before it reported a metric.";
  return "The run reported no metric. The Logs tab has what it printed.";
}

const ENDS: Partial<Record<Run["state"], string>> = {
  succeeded: "The run finished without printing a line.",
  cancelled: "The run was cancelled before it printed a line.",
};

/** Why a run that is over has no log. */
export function noLog(run: Run): string {
  if (run.error !== null)
    return `The run ended before its trainer printed a line. ${above(run.error)}`;
  return ENDS[run.state] ?? "The run ended without printing a line.";
}

/** Why a policy run has no scores of its training prompts. */
export function noPromptScores({ state, is_retried: isRetried }: Run): string {
  const isComing = state === "crashed" ? isRetried : mayMoveOn(state);
  return isComing
    ? "The scores of each training prompt appear here after the first step."
    : "The run recorded no score of any training prompt: it ended before its first step, or its trainer was of an older release.";
}

/** Why a run has left no files. */
export function noFiles(run: Run): string {
  if (run.state !== "succeeded")
    return "The final model and the other results are stored when the run succeeds.";
  if (run.result === "responses") return "The generated responses are in the project's data.";
  if (run.result === "numbers") return "The results are metrics. See the Results tab.";
  return "The files of the trained model were deleted.";
}

/** Whether the run ended at work: one that waits can be cancelled long after its last attempt. */
const endedAtWork = ({ state, exit_code: code }: Run): boolean =>
  state !== "cancelled" || code !== null;

/**
 * How long the newest attempt of a run took, or has run; the waits between attempts count for
 * nothing. `now` in ms.
 */
export function timeWords(run: Run, firstStartedAt: string, now: number): string {
  const { attempt, attempt_started_at: startedAt, finished_at: finishedAt } = run;
  const since = startedAt === null ? null : Date.parse(startedAt);
  const ofLast = attempt > 1 ? "the last one " : "";
  if (finishedAt !== null) {
    const end = Date.parse(finishedAt);
    if (since === null || !endedAtWork(run)) return `ended ${ago(finishedAt, Math.max(now, end))}`;
    return `${ofLast}took ${duration((end - since) / 1000)}`;
  }
  if (isLive(run) && since !== null) {
    const running = duration((Math.max(now, since) - since) / 1000);
    return `${ofLast}running for ${running}`;
  }
  const first = attempt > 1 ? "first " : "";
  return `${first}started ${ago(firstStartedAt, Math.max(now, Date.parse(firstStartedAt)))}`;
}
