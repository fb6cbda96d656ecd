/** How somebody ranked a comparison, in letters of its responses; pure. */
import type { GivenRanking } from "@/api/types";

/** A, B, C, ... by the place of a response in its comparison. */
export const letterOf = (place: number) => String.fromCharCode(65 + place);

type Said = Pick<GivenRanking, "tiers" | "unranked" | "verdict" | "reasons">;

function wordsOf(said: Said, responseIds: readonly string[]): string {
  const { tiers, unranked, verdict, reasons } = said;
  const letter = (id: string) => letterOf(responseIds.indexOf(id));
  if (verdict === "cannot_judge") return withReasons("cannot judge", reasons);
  const order = tiers.map((tier) => tier.map(letter).sort().join(" = ")).join(" > ");
  const rest = unranked.map(letter).sort().join(", ");
  return [
    ...(verdict === "all_bad" ? ["all bad"] : []),
    ...(order === "" ? [] : [order]),
    ...(rest === "" ? [] : [`${rest} not ranked`]),
  ].join("; ");
}

/** "cannot judge (unreadable)"; imported judgments give no reasons. */
export const withReasons = (verdict: string, reasons: readonly string[]): string =>
  reasons.length === 0 ? verdict : `${verdict} (${reasons.join(", ")})`;

/** The letters of the responses that its annotator flagged; "" = none. */
export const flaggedOf = ({ flags }: GivenRanking, responseIds: readonly string[]): string =>
  flags
    .map((id) => letterOf(responseIds.indexOf(id)))
    .sort()
    .join(", ");

export interface SaidBy {
  /** The criterion that it was ranked by; empty = as a whole. */
  readonly criterion: string;
  readonly words: string;
}

/** One for each criterion. */
export function saidOf(given: GivenRanking, responseIds: readonly string[]): SaidBy[] {
  if (given.rankings.length === 0) return [{ criterion: "", words: wordsOf(given, responseIds) }];
  return given.rankings.map((one) => ({
    criterion: one.criterion,
    words: wordsOf(one, responseIds),
  }));
}

export const nameOf = ({ by, is_own }: GivenRanking) => (is_own ? "You" : (by ?? "An annotator"));
