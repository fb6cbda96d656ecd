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

/** What a comparison is ranked by, such as "helpful", and what the annotator is asked. */
export interface Criterion {
  readonly name: string;
  readonly question: string;
}

/** What is said under one criterion; flags and the note are of the whole comparison. */
export type DraftRanking = Pick<Ranking, "tiers" | "order" | "isTying" | "verdict" | "reasons">;

export interface Ranking {
  readonly count: number;
  /** Ranked by these one after the other; empty: once, as a whole. */
  readonly criteria: readonly Criterion[];
  /** The one on screen, whose answer is in the fields of `DraftRanking`. */
  readonly step: number;
  /** The answers to the others; null where nobody has been yet. */
  readonly answers: readonly (DraftRanking | null)[];
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
  | { kind: "comment"; text: string }
  | { kind: "step"; step: number }
  /** Says all under the criterion on screen and goes on to another. */
  | { kind: "answer"; by: Move; step: number };

const NO_ANSWER: DraftRanking = {
  tiers: [],
  order: [],
  isTying: false,
  verdict: "ranked",
  reasons: [],
};

export function start(count: number, criteria: readonly Criterion[] = []): Ranking {
  return {
    ...NO_ANSWER,
    count,
    criteria,
    step: 0,
    answers: criteria.map(() => null),
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

/** Of two cards one that is placed says it all: the other comes second, on screen, too. */
export function completed(ranking: Ranking): Ranking {
  const rest = unranked(ranking);
  if (ranking.count !== 2 || rest.length !== 1 || ranking.isTying) return ranking;
  return { ...ranking, tiers: [...ranking.tiers, rest], order: [...rest, ...ranking.order] };
}

/** Of two cards both are ranked or none is. */
function inPairs(before: Ranking, after: Ranking): Ranking {
  // An answer under another criterion is not what this move has made.
  const isOther = after.step !== before.step;
  if (after.count !== 2 || after.order.length !== 1 || isOther) return after;
  return before.order.length < 2 ? completed(after) : { ...after, tiers: [], order: [] };
}

/**
 * What a move says of two responses if it says all, under the criterion on screen: a letter, a tie,
 * all bad. Null: more is to come.
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

/** What is left of a ranking when its last key is taken back: what was said before and beside it. */
export const undecided = (ranking: Ranking): Ranking => ({ ...ranking, ...NO_ANSWER });

/** Why the ranking cannot be sent as it stands, or null if it can; `sendsAtOnce`: of two responses one key sends. */
export function whatIsMissing(ranking: Ranking, sendsAtOnce = true): string | null {
  if (ranking.verdict === "all_bad") return null;
  if (ranking.verdict === "cannot_judge")
    return ranking.reasons.length > 0 ? null : "Choose why the comparison cannot be judged.";
  const placed = completed(ranking).tiers.flat().length;
  if (placed === 0) return whatToRank(ranking, sendsAtOnce);
  return placed === 1 ? "Rank at least two responses." : null;
}

function whatToRank({ count, criteria }: Ranking, sendsAtOnce: boolean): string {
  if (count > 2) return "Rank the responses from best to worst.";
  const choose = "Choose the better response or the tie";
  return criteria.length > 1 || !sendsAtOnce ? `${choose}.` : `${choose}: that submits.`;
}

export const move = (ranking: Ranking, action: Move): Ranking =>
  decided(ranking, action) ?? inPairs(ranking, moved(ranking, action));

function moved(ranking: Ranking, action: Move): Ranking {
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
    case "step":
      return atStep(ranking, action.step);
    case "answer":
      return atStep(move(ranking, action.by), action.step);
    default:
      return judge(ranking, action);
  }
}

/** The same with another criterion on screen; what was said under this one is kept. */
export function atStep(ranking: Ranking, step: number): Ranking {
  if (step === ranking.step || ranking.criteria[step] === undefined) return ranking;
  const { tiers, order, verdict, reasons } = completed(ranking);
  const said = { tiers, order, isTying: false, verdict, reasons };
  const answers = ranking.answers.map((answer, at) => (at === ranking.step ? said : answer));
  return { ...ranking, ...(answers[step] ?? NO_ANSWER), step, answers };
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

/** What a screen reader hears after a move; `submit` is the key that submits, null if none does. */
export function describe(before: Ranking, after: Ranking, submit: SubmitKey = "Enter"): string {
  const criterion = after.criteria[after.step];
  if (after.step !== before.step) return criterion ? asked(after, criterion) : "";
  if (after.verdict !== "ranked" && after.verdict !== before.verdict)
    return wordsOfVerdict(after, submit);
  const reasons = changed(before.reasons, after.reasons);
  if (after.verdict === "cannot_judge" && reasons !== null)
    return `${reasons.item}: ${reasons.isOn ? "chosen" : "no longer chosen"}.`;
  if (after.isTying && !before.isTying)
    return "Tie: the response that you choose next shares this rank.";
  const gone = before.tiers.flat().filter((card) => tierOf(after, card) < 0);
  if (gone.length > 0)
    return `${gone.map(letterOf).join(" and ")} ${gone.length === 1 ? "is" : "are"} unranked.`;
  const flags = changed(before.flags, after.flags);
  if (flags !== null) return `${letterOf(flags.item)} is ${flags.isOn ? "" : "no longer "}flagged.`;
  return wordsOfSelection(before, after, submit);
}

type SubmitKey = string | null;

const wordsOfVerdict = (after: Ranking, submit: SubmitKey): string =>
  after.verdict === "all_bad"
    ? `All bad: ${wayOn(after, submit)}.`
    : "Cannot judge. Choose a reason.";

function wordsOfSelection(before: Ranking, after: Ranking, submit: SubmitKey): string {
  const last = after.order.at(-1);
  if (last !== undefined && after.tiers !== before.tiers) return wordsOfPlace(after, last, submit);
  if (after.verdict !== before.verdict)
    return `${before.verdict === "all_bad" ? "All bad" : "Cannot judge"} is taken back.`;
  if (before.isTying && !after.isTying) return "No tie.";
  if (last === undefined || after.order === before.order) return "";
  return `${letterOf(last)} is selected: ${placeOf(after, last)}.`;
}

/** What one of the lists has and the other has not. */
function changed<T>(before: readonly T[], after: readonly T[]): { item: T; isOn: boolean } | null {
  const on = after.filter((item) => !before.includes(item));
  const off = before.filter((item) => !after.includes(item));
  const item = on[0] ?? off[0];
  return item === undefined ? null : { item, isOn: on.length > 0 };
}

function placeOf(ranking: Ranking, card: number): string {
  const tier = tierOf(ranking, card);
  const others = (ranking.tiers[tier] ?? []).filter((other) => other !== card).map(letterOf);
  return `${ordinal(tier + 1)}${others.length > 0 ? `, tied with ${others.join(" and ")}` : ""}`;
}

function wordsOfPlace(after: Ranking, last: number, submit: SubmitKey): string {
  const left = unranked(after).length;
  return `${letterOf(last)} is ${placeOf(after, last)}. ${left === 0 ? `All are ranked: ${wayOn(after, submit)}.` : `${left} to rank.`}`;
}

const asked = ({ step, criteria }: Ranking, { name, question }: Criterion) =>
  `${step + 1} of ${criteria.length}: ${name}. ${question}`;

function wayOn({ step, criteria }: Ranking, submit: SubmitKey): string {
  const what = step + 1 < criteria.length ? "go on" : "submit";
  return submit === null ? what : `${what} (${submit})`;
}

export interface AnswerParts {
  tiers: string[][];
  unranked: string[];
  verdict: Verdict;
  reasons: string[];
}

interface CommonParts {
  comment: string;
  flags: string[];
}

export type JudgmentParts = CommonParts &
  (AnswerParts | { rankings: ({ criterion: string } & AnswerParts)[] });

/** A ranking as one reads it: "B > A = C"; with criteria, "helpful: B > A; harmless: A = B". */
export function wordsOf(ranking: Ranking): string {
  if (ranking.criteria.length === 0) return wordsOfAnswer(ranking);
  return ranking.criteria
    .map(({ name }, step) => `${name}: ${wordsOfAnswer(atStep(ranking, step))}`)
    .join("; ");
}

const wordsOfAnswer = (answer: DraftRanking) =>
  inLetters({ ...answer, tiers: answer.tiers.map((tier) => tier.map(letterOf)) });

/** What was sent, as one's own judgments have it, too. */
export type Sent = CommonParts &
  Partial<AnswerParts> & {
    rankings?: readonly (AnswerParts & { criterion: string; question?: string })[];
  };

/** The ranking that was sent, in the places in which these responses are shown. */
export function rankingOf(sent: Sent, ids: readonly string[]): Ranking {
  const rankings = sent.rankings ?? [];
  const criteria = rankings.map(({ criterion, question = "" }) => ({ name: criterion, question }));
  const answers = rankings.map((one) => answerFrom(one, ids));
  return {
    ...start(ids.length, criteria),
    ...(answers[0] ?? answerFrom(sent, ids)),
    answers,
    flags: placesOf(sent.flags, ids),
    comment: sent.comment,
  };
}

function answerFrom(parts: Partial<AnswerParts>, ids: readonly string[]): DraftRanking {
  const { verdict = "ranked", reasons = [] } = parts;
  const tiers = (parts.tiers ?? [])
    .map((tier) => placesOf(tier, ids))
    .filter(({ length }) => length);
  return { ...NO_ANSWER, tiers, order: tiers.flat(), verdict, reasons: [...reasons] };
}

const placesOf = (some: readonly string[], ids: readonly string[]): number[] =>
  some.map((id) => ids.indexOf(id)).filter((place) => place >= 0);

/** What is sent: ids instead of places, one answer or one for each criterion. */
export function judgmentOf(ranking: Ranking, ids: readonly string[]): JudgmentParts {
  const flags = ranking.flags.map((card) => ids[card] ?? "");
  const common = { comment: ranking.comment, flags };
  if (ranking.criteria.length === 0) return { ...answerOf(ranking, ids), ...common };
  const rankings = ranking.criteria.map(({ name }, step) => ({
    criterion: name,
    ...answerOf(atStep(ranking, step), ids),
  }));
  return { rankings, ...common };
}

/** Verdicts other than `ranked` have no tiers. */
function answerOf(ranking: Ranking, ids: readonly string[]): AnswerParts {
  const named = (cards: readonly number[]) => cards.map((card) => ids[card] ?? "");
  const isRanked = ranking.verdict === "ranked";
  return {
    tiers: isRanked ? ranking.tiers.map(named) : [],
    unranked: isRanked ? named(unranked(ranking)) : [...ids],
    verdict: ranking.verdict,
    reasons: [...ranking.reasons],
  };
}
