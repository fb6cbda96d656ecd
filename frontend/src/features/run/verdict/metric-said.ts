/** What the verdict says of a single metric; pure. */
import type { RunVerdict } from "@/api/types";

export type MetricSaid = "decides" | "exploited";

interface Judged extends Pick<RunVerdict, "judged_by" | "kind"> {
  readonly exploited: readonly string[];
}

/** Nothing decides what is told of these: too few evaluations, or what a policy looks like. */
const WITHOUT_JUDGE: ReadonlySet<RunVerdict["kind"]> = new Set([
  "collapsed",
  "unjudged",
  "waiting",
]);

/** Null = nothing. */
export function saidOf(name: string, verdict: Judged | null): MetricSaid | null {
  if (verdict === null) return null;
  if (name === verdict.judged_by) return WITHOUT_JUDGE.has(verdict.kind) ? null : "decides";
  return verdict.exploited.includes(name) ? "exploited" : null;
}

/**
 * The tone and name of the best checkpoint by the run's own evaluation: that is nothing good where
 * its reward was exploited, unless the checkpoint is the best outside the run, too.
 */
export function bestSaid(
  step: number,
  verdict: (Judged & Pick<RunVerdict, "best_step">) | null,
): readonly [string, string] {
  const isExploited = saidOf("eval/reward", verdict) === "exploited" && step !== verdict?.best_step;
  return isExploited ? ["", "best by an exploited reward"] : ["good", "best"];
}
