/** Whose agreement is shown until somebody chooses. Pure. */
import type { JudgmentCounts } from "@/api/types";

/** Judgments that were given without criteria. */
const WITHOUT = "";

/** The first criterion of the project that has judgments; null, the first of all, where none has. */
export function firstJudged(names: readonly string[], { criteria }: JudgmentCounts): string | null {
  const isJudged = (name: string) =>
    criteria.some(({ criterion, judgments }) => criterion === name && judgments > 0);
  return [...names, WITHOUT].find(isJudged) ?? null;
}
