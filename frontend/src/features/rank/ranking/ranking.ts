/**
 * The keyboard grammar of a ranking as a pure state machine; `use-ranking.ts` applies the moves that
 * `keys.ts` and `drag.ts` make of keys and drags.
 *
 * Cards are numbered by the place in which they are shown (0 = A). It knows no DOM and no server.
 */
import { ordinal } from "@/lib/format";
import { inLetters, letterOf } from "@/lib/letters";

export { letterOf } from "@/lib/letters";

export type Verdict = "ranked" | "all_bad" | "cannot_judge";

export interface Ranking {
  readonly count: number;
  /** Best first; the cards of one tier are tied. */
  readonly tiers: readonly (readonly number[])[];
  /** Placed cards in the order they were placed; the last one is what digits and arrows move. */
  readonly order: readonly number[];
  /** The next letter joins the tier of the last card. */
  readonly isTying: boolean;
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  readonly flags: readonly number[];
  readonly comment: string;
}

export type Move =
  | { kind: "letter"; card: number }
  | { kind: "tie" }
  | { kind: "digit"; rank: number }
  | { kind: "takeBack" }
  | { kind: "shift"; by: -1 | 1 }
  | { kind: "drop"; card: number; tier: number; isNewTier: boolean }
  | { kind: "unrank"; card: number }
  | { kind: "verdict"; verdict: Verdict }
  | { kind: "reason"; reason: string }
  | { kind: "flag"; card: number }
  | { kind: "comment"; text: string };

export function start(count: number): Ranking {
  return {
    count,
    tiers: [],
    order: [],
    isTying: false,
    verdict: "ranked",
    reasons: [],
    flags: [],
    comment: "",
  };
}

export function unranked(ranking: Ranking): number[] {
  const placed = new Set(ranking.tiers.flat());
  return Array.from({ length: ranking.count }, (_, card) => card).filter((c) => !placed.has(c));
}

export function tierOf(ranking: Ranking, card: number): number {
  return ranking.tiers.findIndex((tier) => tier.includes(card));
}

/** With two cards one letter says it all: the other card comes second. */
export function completed(ranking: Ranking): Ranking {
  const rest = unranked(ranking);
  if (ranking.count !== 2 || rest.length !== 1 || ranking.isTying) return ranking;
  return { ...ranking, tiers: [...ranking.tiers, rest] };
}

/**
 * What a move says of two responses if it says all: a letter, a tie, all bad. Null: more is to come.
 */
export function decided(ranking: Ranking, action: Move): Ranking | null {
  if (ranking.count !== 2) return null;
  switch (action.kind) {
    case "letter":
      if (action.card > 1) return null;
      return placed(ranking, [[action.card], [1 - action.card]]);
    case "tie":
      return placed(ranking, [[0, 1]]);
    case "verdict":
      if (action.verdict !== "all_bad") return null;
      return { ...ranked(ranking), verdict: "all_bad" };
    default:
      return null;
  }
}

const placed = (ranking: Ranking, tiers: number[][]): Ranking =>
  ranked({ ...ranking, tiers, order: tiers.flat() });

/** What is left of a ranking when its last key is taken back: what was said beside it. */
export const undecided = ({ count, flags, comment }: Ranking): Ranking => ({
  ...start(count),
  flags,
  comment,
});

/** Why the ranking cannot be sent as it stands, or null if it can. */
export function whatIsMissing(ranking: Ranking): string | null {
  if (ranking.verdict === "all_bad") return null;
  if (ranking.verdict === "cannot_judge")
    return ranking.reasons.length > 0 ? null : "Choose why the comparison cannot be judged.";
  const placed = completed(ranking).tiers.flat().length;
  if (placed === 0) return "Type the letters from best to worst.";
  return placed === 1 ? "Place at least two cards." : null;
}

export function move(ranking: Ranking, action: Move): Ranking {
  switch (action.kind) {
    case "letter":
      return typeLetter(ranking, action.card);
    case "tie":
      return ranking.order.length > 0 ? { ...ranking, isTying: !ranking.isTying } : ranking;
    case "digit":
      return moveLastTo(ranking, action.rank);
    case "takeBack":
      return takeBack(ranking);
    case "shift":
      return shiftLast(ranking, action.by);
    case "drop":
      return drop(ranking, action.card, action.tier, action.isNewTier);
    case "unrank":
      return ranked(without(ranking, action.card));
    default:
      return judge(ranking, action);
  }
}

type Judging = Extract<Move, { kind: "verdict" | "reason" | "flag" | "comment" }>;

function judge(ranking: Ranking, action: Judging): Ranking {
  switch (action.kind) {
    case "verdict": {
      const verdict = ranking.verdict === action.verdict ? "ranked" : action.verdict;
      return { ...ranking, verdict, reasons: [], isTying: false };
    }
    case "reason":
      return { ...ranking, reasons: toggled(ranking.reasons, action.reason) };
    case "flag":
      if (action.card >= ranking.count) return ranking;
      return { ...ranking, flags: toggled(ranking.flags, action.card) };
    case "comment":
      return { ...ranking, comment: action.text };
  }
}

function typeLetter(ranking: Ranking, card: number): Ranking {
  if (card >= ranking.count) return ranking;
  const last = ranking.order.at(-1);
  if (ranking.isTying && last !== undefined && last !== card) return tieWith(ranking, card, last);
  if (tierOf(ranking, card) >= 0) return ranked(asLast(ranking, card));
  return ranked(asLast({ ...ranking, tiers: [...ranking.tiers, [card]] }, card));
}

function tieWith(ranking: Ranking, card: number, last: number): Ranking {
  const rest = without(ranking, card);
  const tiers = rest.tiers.map((tier) => (tier.includes(last) ? [...tier, card] : tier));
  return ranked(asLast({ ...rest, tiers }, card));
}

/** An existing rank means a tie with who is there; one beyond the end is a new last rank. */
function moveLastTo(ranking: Ranking, rank: number): Ranking {
  const last = ranking.order.at(-1);
  if (last === undefined) return ranking;
  if (rank === 0) return takeBack(ranking);
  const target = ranking.tiers[rank - 1];
  if (target?.includes(last)) return { ...ranking, isTying: false };
  const rest = without(ranking, last);
  const at = target === undefined ? -1 : rest.tiers.findIndex((tier) => tier[0] === target[0]);
  const tiers =
    at < 0
      ? [...rest.tiers, [last]]
      : rest.tiers.map((tier, index) => (index === at ? [...tier, last] : tier));
  return ranked(asLast({ ...rest, tiers }, last));
}

function takeBack(ranking: Ranking): Ranking {
  if (ranking.isTying) return { ...ranking, isTying: false };
  const last = ranking.order.at(-1);
  return last === undefined ? ranking : ranked(without(ranking, last));
}

/** A tied card leaves its tie; a card alone in its tier passes the neighbouring tier. */
function shiftLast(ranking: Ranking, by: -1 | 1): Ranking {
  const last = ranking.order.at(-1);
  if (last === undefined) return ranking;
  const from = tierOf(ranking, last);
  const isTied = (ranking.tiers[from]?.length ?? 0) > 1;
  const rest = without(ranking, last);
  const to = isTied ? (by < 0 ? from : from + 1) : from + by;
  const at = Math.max(0, Math.min(rest.tiers.length, to));
  return ranked(asLast({ ...rest, tiers: inserted(rest.tiers, at, [last]) }, last));
}

/** `tier` counts the tiers as they are before the move. */
function drop(ranking: Ranking, card: number, tier: number, isNewTier: boolean): Ranking {
  if (card >= ranking.count) return ranking;
  const target = ranking.tiers[tier];
  if (!isNewTier && target?.includes(card)) return ranking;
  const from = tierOf(ranking, card);
  const vanishes = from >= 0 && ranking.tiers[from]?.length === 1;
  const rest = without(ranking, card);
  const at = vanishes && from < tier ? tier - 1 : tier;
  const tiers =
    isNewTier || target === undefined
      ? inserted(rest.tiers, Math.min(at, rest.tiers.length), [card])
      : rest.tiers.map((cards, index) => (index === at ? [...cards, card] : cards));
  return ranked(asLast({ ...rest, tiers }, card));
}

function ranked(ranking: Ranking): Ranking {
  return { ...ranking, verdict: "ranked", reasons: [], isTying: false };
}

function asLast(ranking: Ranking, card: number): Ranking {
  return { ...ranking, order: [...ranking.order.filter((other) => other !== card), card] };
}

function without(ranking: Ranking, card: number): Ranking {
  const tiers = ranking.tiers
    .map((tier) => tier.filter((other) => other !== card))
    .filter((tier) => tier.length > 0);
  return { ...ranking, tiers, order: ranking.order.filter((other) => other !== card) };
}

function inserted<T>(list: readonly T[], at: number, item: T): T[] {
  return [...list.slice(0, at), item, ...list.slice(at)];
}

function toggled<T>(list: readonly T[], item: T): T[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
}

/** What a screen reader hears after a move; `submit` is the key that submits. */
export function describe(before: Ranking, after: Ranking, submit = "Enter"): string {
  if (after.verdict !== before.verdict && after.verdict !== "ranked")
    return after.verdict === "all_bad"
      ? `All bad. ${submit} submits.`
      : "Cannot judge. Choose a reason.";
  if (after.isTying && !before.isTying) return "Tie: the next letter shares this rank.";
  const gone = before.tiers.flat().find((card) => tierOf(after, card) < 0);
  if (gone !== undefined) return `${letterOf(gone)} is unranked.`;
  const flagged = after.flags.find((card) => !before.flags.includes(card));
  if (flagged !== undefined) return `${letterOf(flagged)} is flagged.`;
  const last = after.order.at(-1);
  if (last === undefined || after.tiers === before.tiers) return "";
  const tier = tierOf(after, last);
  const others = (after.tiers[tier] ?? []).filter((card) => card !== last).map(letterOf);
  const tied = others.length > 0 ? `, tied with ${others.join(" and ")}` : "";
  const left = unranked(after).length;
  return `${letterOf(last)} is ${ordinal(tier + 1)}${tied}. ${left === 0 ? `All placed; ${submit} submits.` : `${left} to place.`}`;
}

export interface JudgmentParts {
  tiers: string[][];
  unranked: string[];
  verdict: Verdict;
  reasons: string[];
  comment: string;
  flags: string[];
}

/** A ranking as one reads it: "B > A = C". */
export function wordsOf(ranking: Ranking): string {
  const tiers = ranking.tiers.map((tier) => tier.map(letterOf));
  return inLetters({ ...ranking, tiers });
}

/** The ranking that was sent, in the places in which these responses are shown. */
export function rankingOf(sent: JudgmentParts, ids: readonly string[]): Ranking {
  const places = (some: readonly string[]) =>
    some.map((id) => ids.indexOf(id)).filter((place) => place >= 0);
  const tiers = sent.tiers.map(places).filter((tier) => tier.length > 0);
  return {
    ...start(ids.length),
    tiers,
    order: tiers.flat(),
    verdict: sent.verdict,
    reasons: [...sent.reasons],
    flags: places(sent.flags),
    comment: sent.comment,
  };
}

/** What is sent: ids instead of places. Verdicts other than `ranked` have no tiers. */
export function judgmentOf(ranking: Ranking, ids: readonly string[]): JudgmentParts {
  const named = (cards: readonly number[]) => cards.map((card) => ids[card] ?? "");
  const isRanked = ranking.verdict === "ranked";
  return {
    tiers: isRanked ? ranking.tiers.map(named) : [],
    unranked: isRanked ? named(unranked(ranking)) : [...ids],
    verdict: ranking.verdict,
    reasons: [...ranking.reasons],
    comment: ranking.comment,
    flags: named(ranking.flags),
  };
}
