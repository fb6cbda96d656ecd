/** What is said of two runs that people judge. Pure. */
import type { Run, Versus } from "@/api/types";
import { between, number } from "@/lib/format";

const CHANCE = 0.5;

/** Two generate runs of one project, both with all their responses. */
export const canBeJudged = (runs: readonly Pick<Run, "method" | "state" | "project_id">[]) =>
  runs.length === 2 &&
  runs.every((run) => run.method === "generate" && run.state === "succeeded") &&
  runs[0]?.project_id === runs[1]?.project_id;

/** Pairs that differ and that nobody is asked about yet. */
export const leftToPutUp = (found: Pick<Versus, "pairs" | "identical" | "put_up">) =>
  found.pairs - found.identical - found.put_up;

/** One sentence that claims no more than the interval. */
export function saidOf(
  found: Pick<Versus, "pairs" | "judged" | "interval">,
  ours: string,
  theirs: string,
): string {
  if (found.pairs === 0) return "The two runs have no prompt in common.";
  if (found.judged === 0) return "Nobody has judged a pair of these runs yet.";
  if (found.interval === null) return "One prompt was judged: too few to say which is better.";
  if (found.interval.low > CHANCE) return `People prefer ${ours} to ${theirs}.`;
  if (found.interval.high < CHANCE) return `People prefer ${theirs} to ${ours}.`;
  return `People do not clearly prefer ${ours} or ${theirs}.`;
}

/** Whether one run wins by writing more: the win rate without the difference in length. */
export function atEqualLength(
  found: Pick<Versus, "win_rate_at_equal_length" | "interval_at_equal_length">,
): string {
  const { win_rate_at_equal_length: rate, interval_at_equal_length: interval } = found;
  if (rate === null) {
    return "Win rate at equal length unknown: the length difference is nearly the same in all pairs, a length is unknown, or fewer than two prompts were judged.";
  }
  const within = interval === null ? "" : `, ${between(interval)}`;
  return `At equal length the win rate is ${number(rate)}${within}.`;
}
