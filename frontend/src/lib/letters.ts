/** Rankings as people read them: responses are called A, B, C by the place in which they are shown. */
import { ordinal } from "./format";

/** A ranking whose tiers hold letters, best first. */
export interface Lettered {
  readonly tiers: readonly (readonly string[])[];
  readonly verdict: "ranked" | "all_bad" | "cannot_judge";
  readonly reasons: readonly string[];
}

export const letterOf = (card: number): string => String.fromCharCode(65 + card);

/** "B > A = C", "all bad", "cannot judge (unreadable)". */
export function inLetters({ tiers, verdict, reasons }: Lettered): string {
  if (verdict === "all_bad") return "all bad";
  if (verdict === "cannot_judge") return `cannot judge (${reasons.join(", ")})`;
  return tiers.map((tier) => tier.toSorted().join(" = ")).join(" > ");
}

/** "B is 1st, A and C are both 2nd; D has no rank." */
export function inWords(ranking: Lettered, unranked: readonly string[]): string {
  if (ranking.verdict === "all_bad") return "No response is acceptable.";
  if (ranking.verdict === "cannot_judge") return "The comparison cannot be judged.";
  const ranks = ranking.tiers.map(
    (tier, place) => `${listed(tier.toSorted())} ${isOrAre(tier)} ${ordinal(place + 1)}`,
  );
  const rest = unranked.length === 0 ? "" : `; ${listed(unranked)} ${haveOrHas(unranked)} no rank`;
  return `${ranks.join(", ")}${rest}.`;
}

const listed = (letters: readonly string[]): string =>
  letters.length < 2
    ? letters.join("")
    : `${letters.slice(0, -1).join(", ")} and ${letters.at(-1) ?? ""}`;

const isOrAre = ({ length }: readonly string[]) =>
  length === 1 ? "is" : length === 2 ? "are both" : "are all";
const haveOrHas = ({ length }: readonly string[]) => (length === 1 ? "has" : "have");
