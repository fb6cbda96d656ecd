/** A verdict in a word; one colour per level, as everywhere. */
import type { RunVerdict } from "@/api/types";

import { VERDICT_WORDS, WORSE_THAN_CHANCE } from "./verdict-words";

/** Where the verdict of a run did not load. */
export function VerdictFailed() {
  return <span className="faint small">verdict did not load</span>;
}

export function VerdictPill({
  verdict,
}: {
  verdict: Pick<RunVerdict, "kind" | "level" | "sentence">;
}) {
  const isWorse = verdict.kind === "at_chance" && verdict.level === "bad";
  const tone = verdict.level === "none" ? "" : verdict.level;
  return (
    <span className={`pill ${tone}`} title={verdict.sentence}>
      {isWorse ? WORSE_THAN_CHANCE : VERDICT_WORDS[verdict.kind]}
    </span>
  );
}
