/** What the head of a run's page says of where the run stands, true in every state. Pure. */
import type { Run } from "@/api/types";
import { ago, duration, number } from "@/lib/format";

const OVER: ReadonlySet<Run["state"]> = new Set(["succeeded", "failed", "cancelled"]);

/** A run that trains nothing writes no checkpoint: each attempt begins again. */
const isSampler = ({ method }: Run): boolean => method === "generate" || method === "evaluate";

/** Whether a page without live events has to ask again: a crashed run is tried again by itself. */
export function mayMoveOn(state: Run["state"]): boolean {
  return !OVER.has(state);
}

/** Stopping a run a second time for the same reason would do nothing. */
export function canBeStopped({ allowed, stop_reason: reason, state }: Run): boolean {
  return allowed.includes("cancel") && !(state === "stopping" && reason === "cancel");
}

export interface StopWords {
  /** What stopping does to this run. */
  readonly text: string;
  /** The button that stops nothing. */
  readonly keep: string;
}

/** What to ask before a run is stopped for good. */
export function stopWords(run: Run): StopWords {
  const { step, steps } = run.progress;
  const at = `at step ${number(step)}${steps > 0 ? ` of ${number(steps)}` : ""}`;
  const hasCheckpoint = run.pruned_at === null && run.checkpoint_step !== null;
  const after = hasCheckpoint
    ? "Retry goes on from its last checkpoint."
    : "Retry begins it again.";
  switch (run.state) {
    case "running":
      if (isSampler(run)) return { text: `It stands ${at}. ${SAVES_NOTHING}`, keep: KEEP };
      return { text: step > 0 ? `It stands ${at}. ${WRITES}` : UNFINISHED, keep: KEEP };
    case "stopping":
      return { text: `${run.state_sentence} ${INSTEAD}`, keep: "Leave it as it is" };
    case "crashed":
      return {
        text: `It crashed ${at}. Stopped, it is not tried again by itself; ${after}`,
        keep: "Leave it as it is",
      };
    case "paused":
      return {
        text: run.attempt > 0 ? `It is paused ${at}. Stopped, it is cancelled; ${after}` : UNBEGUN,
        keep: "Leave it paused",
      };
    default:
      return {
        text:
          run.attempt > 0
            ? `It waits for a worker ${at}. Stopped, it leaves the queue; ${after}`
            : UNBEGUN,
        keep: "Leave it in the queue",
      };
  }
}

const KEEP = "Keep it running";
const UNBEGUN = "It has not begun; Retry puts it back into the queue.";
const UNFINISHED = "It has finished no step yet; Retry begins where this attempt began.";
const WRITES =
  "The trainer writes a checkpoint of its last finished step and ends; Retry goes on from there.";
const SAVES_NOTHING = "Stopped, what it has done is lost; Retry begins it again.";
const INSTEAD = "Stopped, it ends as cancelled instead; Retry puts it back into the queue.";

/** Why a run has no checkpoints. */
export function noCheckpoints(run: Run): string {
  if (run.pruned_at !== null)
    return "They were deleted with the other files of this run; none was pinned.";
  if (isSampler(run)) return "This run trains nothing, so it writes none.";
  return "They are written every checkpoint_every steps, and when a run is asked to stop.";
}

/** Why a run has left no files. */
export function noFiles(run: Run): string {
  if (run.state !== "succeeded")
    return "The final model and other results come home when the run succeeds.";
  if (run.method === "generate") return "The responses that it made are in the project's data.";
  if (run.method === "evaluate") return "Its results are numbers; they stand under Curves.";
  return "The files of the model that it made were deleted.";
}

/** How long a run that has begun took, or since when it is under way; `now` in ms. */
export function timeWords(run: Run, startedAt: string, now: number): string {
  const start = Date.parse(startedAt);
  const until = (end: number) => duration((end - start) / 1000);
  if (run.finished_at !== null) return `took ${until(Date.parse(run.finished_at))}`;
  const isLive = run.state === "running" || run.state === "stopping";
  // Later attempts began after a pause or a wait, which was no running.
  if (isLive && run.attempt === 1) return `running for ${until(Math.max(now, start))}`;
  return `began ${ago(startedAt, Math.max(now, start))}`;
}
