/** What the verdicts on runs are called on screen. */
import type { RunVerdict } from "@/api/types";

export const VERDICT_WORDS: Readonly<Record<RunVerdict["kind"], string>> = {
  waiting: "too early",
  unjudged: "not judged",
  measured: "measured",
  truncated: "many truncated",
  improved: "improved",
  stalled: "no clear change",
  above_chance: "better than chance",
  at_chance: "not above chance",
  above_baseline: "beats its baseline",
  at_baseline: "no clear difference",
  below_baseline: "below its baseline",
  overfitted: "overfitted",
  over_optimized: "over-optimized",
  inflated: "length inflated",
  collapsed: "collapsed",
  worse: "worse",
};

/** What the pill of a bad `at_chance` says. */
export const WORSE_THAN_CHANCE = "worse than chance";

/** The words of a value that a filter may ask for; nothing where the value says them already. */
export function wordsOfVerdictValue(value: string): string {
  if (value === "hacked") return `${VERDICT_WORDS.over_optimized}, or ${VERDICT_WORDS.inflated}`;
  if (value === "at_chance") return `${VERDICT_WORDS.at_chance}, or ${WORSE_THAN_CHANCE}`;
  const words = Object.entries(VERDICT_WORDS).find(([kind]) => kind === value)?.[1] ?? "";
  return words === value ? "" : words;
}
