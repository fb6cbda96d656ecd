/** What a set's measures are at k responses: whether more of them help, and who finds it. Pure. */
import type { MeasuredSet } from "@/api/types";
import { COLOURS } from "@/charts/colours";
import type { AtK, LineByK } from "@/charts/by-k/places";
import type { Cell } from "@/lib/files/csv";

interface Family {
  readonly measure: string;
  readonly name: string;
  readonly colour: string;
  /** The measure of a single response, where its name does not say k. */
  readonly ofOne?: string;
}

/** Each keeps its colour where another is not there. */
const SHARES: readonly Family[] = [
  { measure: "pass", name: "pass@k", colour: COLOURS[0] },
  { measure: "maj", name: "maj@k", colour: COLOURS[1] },
  { measure: "bon", name: "best of k", colour: COLOURS[2] },
];
const REWARDS: readonly Family[] = [
  { measure: "bon_reward", name: "reward of the best of k", colour: COLOURS[2], ofOne: "reward" },
];

function pointsOf(set: MeasuredSet, { measure: family, ofOne }: Family): readonly AtK[] {
  const found = set.measures.flatMap(({ measure, value, interval }): AtK[] => {
    if (measure === ofOne) return [{ k: 1, value, interval }];
    const [name, k] = measure.split("@");
    if (name !== family || k === undefined) return [];
    return [{ k: Number(k), value, interval }];
  });
  return found.sort((a, b) => a.k - b.k);
}

/** A line for each measure that the set has at several k or, beside such a one, at a single k. */
function linesOf(set: MeasuredSet, families: readonly Family[]): readonly LineByK[] {
  const lines = families
    .map((family) => ({
      name: family.name,
      colour: family.colour,
      points: pointsOf(set, family),
    }))
    .filter(({ points }) => points.length > 0);
  return lines.some(({ points }) => points.length > 1) ? lines : [];
}

/** The lines of the first of these families that the set has, and what their values are. */
function drawnOf(set: MeasuredSet): { readonly lines: readonly LineByK[]; readonly unit: string } {
  const shares = { lines: linesOf(set, SHARES), unit: "share of the prompts" };
  const rewards = { lines: linesOf(set, REWARDS), unit: "reward" };
  const ordered = set.passes_by_learned_score ? [rewards, shares] : [shares, rewards];
  return ordered.find(({ lines }) => lines.length > 0) ?? rewards;
}

/** Of a set of which nothing says what is correct, what the reward finds. */
export const linesByK = (set: MeasuredSet): readonly LineByK[] => drawnOf(set).lines;

/** What the vertical axis of `linesByK` has. */
export const unitByK = (set: MeasuredSet): string => drawnOf(set).unit;

/** Sets of which more than one number of responses was measured. */
export const setsByK = (sets: readonly MeasuredSet[]): readonly MeasuredSet[] =>
  sets.filter((set) => linesByK(set).length > 0);

/** Tokens that k responses take in the mean: what their measures cost; null where no length is known. */
export function tokensAt(set: MeasuredSet, k: number): number | null {
  const length = set.measures.find(({ measure }) => measure === "length");
  return length === undefined ? null : k * length.value;
}

/** A line for each measure at each k. */
export const csvRows = (set: MeasuredSet): readonly (readonly Cell[])[] => [
  ["measure", "k", "tokens", "value", "low", "high"],
  ...linesByK(set).flatMap(({ name, points }) =>
    points.map(({ k, value, interval }) => [
      ...[name, k, tokensAt(set, k) ?? "", value],
      ...[interval?.low ?? "", interval?.high ?? ""],
    ]),
  ),
];
