/** What the head of a run's page says of where the run stands, true in every state. Pure. */
import type { Run } from "@/api/types";
import { isLive } from "@/components/run-batches";
import { ago, duration, number } from "@/lib/format";

const OVER: ReadonlySet<Run["state"]> = new Set(["succeeded", "failed", "cancelled"]);

/** A run that trains nothing writes no checkpoint: each attempt begins again. */
const isSampler = ({ result }: Run): boolean => result === "responses" || result === "numbers";

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
        text: `The run crashed ${at}. If you cancel it, Podium does not retry it automatically. ${after}`,
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

/** Why a run has left no files. */
export function noFiles(run: Run): string {
  if (run.state !== "succeeded")
    return "The final model and the other results are stored when the run succeeds.";
  if (run.result === "responses") return "The generated responses are in the project's data.";
  if (run.result === "numbers") return "The results are metrics. See the Curves tab.";
  return "The files of the trained model were deleted.";
}

/** How long a run that has begun took, or since when it is under way; `now` in ms. */
export function timeWords(run: Run, startedAt: string, now: number): string {
  const start = Date.parse(startedAt);
  const until = (end: number) => duration((end - start) / 1000);
  if (run.finished_at !== null) return `took ${until(Date.parse(run.finished_at))}`;
  // Later attempts began after a pause or a wait, which was no running.
  if (isLive(run) && run.attempt === 1) return `running for ${until(Math.max(now, start))}`;
  return `started ${ago(startedAt, Math.max(now, start))}`;
}
