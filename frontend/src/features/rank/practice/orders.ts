/** Rankings as letters, and cards in the order of a ranking. */
import type { CriterionRanking } from "@/api/types";

import { letterOf } from "../ranking/ranking";

/** "B > A = C", best first. */
export const orderOf = (tiers: readonly (readonly number[])[]): string =>
  tiers
    .map((tier) =>
      [...tier]
        .sort((a, b) => a - b)
        .map(letterOf)
        .join(" = "),
    )
    .join(" > ");

/** The cards best first with their ranks; those that are not placed come last. */
export function expectedCards(
  expected: Pick<CriterionRanking, "tiers" | "unranked">,
  ids: readonly string[],
): { card: number; rank: number | null }[] {
  const placed = expected.tiers.flatMap((tier, place) =>
    tier.map((id) => ({ card: ids.indexOf(id), rank: place + 1 })),
  );
  return [...placed, ...expected.unranked.map((id) => ({ card: ids.indexOf(id), rank: null }))];
}
