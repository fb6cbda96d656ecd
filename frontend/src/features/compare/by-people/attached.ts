/** The win rate as a result of the run that trained the model. Pure. */
import type { OutsideMetrics, Run, Versus } from "@/api/types";
import { plural } from "@/lib/format";

export const WIN_RATE = "gold/win_rate";
/** Longest judge that the API takes, in characters. */
const LONGEST_JUDGE = 200;

/** Who judged, and against what; a name that is too long is cut. */
export function judgeOf(nPairs: number, other: string): string {
  const characters = [...`people, ${plural(nPairs, "pair")} against ${other}`];
  if (characters.length <= LONGEST_JUDGE) return characters.join("");
  return `${characters.slice(0, LONGEST_JUDGE - 1).join("")}…`;
}

/** What is attached at a step; null without an interval: one prompt is too few. */
export function resultsOf(
  found: Pick<Versus, "win_rate" | "interval" | "judged">,
  step: number,
  other: string,
): OutsideMetrics | null {
  const { win_rate: rate, interval, judged } = found;
  if (rate === null || interval === null) return null;
  const values = {
    [WIN_RATE]: rate,
    [`${WIN_RATE}_low`]: interval.low,
    [`${WIN_RATE}_high`]: interval.high,
  };
  return { points: [{ step, values }], judge: judgeOf(judged, other) };
}

/** Where Compare shows the win rate of a run against its KL; null for a run without a KL. */
export function rewardAgainstKl(run: Pick<Run, "id" | "project_id" | "config">): string | null {
  if (!("kl" in run.config)) return null;
  const search = new URLSearchParams({ runs: run.id, measure: WIN_RATE });
  return `/projects/${run.project_id}/compare?${search}`;
}
