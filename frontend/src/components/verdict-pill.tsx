/** A verdict in a word; one colour per level, as everywhere. */
import type { RunVerdict } from "@/api/types";

const WORDS: Readonly<Record<RunVerdict["kind"], string>> = {
  waiting: "too early",
  unjudged: "not judged",
  measured: "measured",
  truncated: "many truncated",
  improved: "improved",
  stalled: "no clear change",
  above_chance: "better than chance",
  at_chance: "not above chance",
  above_baseline: "beats its baseline",
  at_baseline: "like its baseline",
  below_baseline: "below its baseline",
  overfitted: "overfitted",
  over_optimized: "over-optimized",
  inflated: "length inflated",
  collapsed: "collapsed",
  worse: "worse",
};

export function VerdictPill({
  verdict,
}: {
  verdict: Pick<RunVerdict, "kind" | "level" | "sentence">;
}) {
  const isWorse = verdict.kind === "at_chance" && verdict.level === "bad";
  const tone = verdict.level === "none" ? "" : verdict.level;
  return (
    <span className={`pill ${tone}`} title={verdict.sentence}>
      {isWorse ? "worse than chance" : WORDS[verdict.kind]}
    </span>
  );
}
