/** What the verdict says of a single metric; pure. */
import type { RunVerdict } from "@/api/types";

export type MetricSaid = "decides" | "exploited";

/** Made of the reward that training optimizes. */
const OF_TRAINED_REWARD: ReadonlySet<string> = new Set([
  "eval/objective",
  "eval/reward",
  "reward/mean",
  "reward/raw_mean",
]);

type Judged = Pick<RunVerdict, "judged_by" | "kind">;

/** Null = nothing; only a measure from outside the run shows that its reward was exploited. */
export function saidOf(name: string, verdict: Judged | null): MetricSaid | null {
  if (verdict === null) return null;
  const { judged_by: judge, kind } = verdict;
  if (name === judge) return "decides";
  const isExploited = kind === "over_optimized" && judge?.startsWith("gold/") === true;
  return isExploited && OF_TRAINED_REWARD.has(name) ? "exploited" : null;
}
