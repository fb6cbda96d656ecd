/** By which metric the reward of training is told. Pure. */
import type { Run } from "@/api/types";

/**
 * In the unit of the held-out reward, which statistics of the run do not change: with running ones
 * the same response has another reward at each step. Of several runs what all of them have.
 */
export function trainingReward(runs: readonly Pick<Run, "config">[]): string {
  const isRunning = ({ config }: Pick<Run, "config">) =>
    (config["reward"] as { normalize?: unknown } | undefined)?.normalize === "running";
  return runs.some(isRunning) ? "reward/raw_mean" : "reward/mean";
}
