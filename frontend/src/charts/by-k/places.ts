/** Where measures at k responses stand: k on a scale of its logarithm to base 2. Pure. */
import type { Span } from "@/lib/format";

export interface AtK {
  readonly k: number;
  readonly value: number;
  readonly interval: Span | null;
}

export interface LineByK {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly AtK[];
}

/** Lines that meet at a k would hide each other's intervals. */
const ASIDE_PX = 5;
/** Nearer than this the numbers of two k would touch. */
const LABEL_PX = 26;

/** All k of any of the lines, ascending. */
export const ksOf = (lines: readonly LineByK[]): readonly number[] =>
  [...new Set(lines.flatMap(({ points }) => points.map(({ k }) => k)))].sort((a, b) => a - b);

/** From the least to the greatest end of an interval, with 0: little is gained where it looks so. */
export function rangeOf(lines: readonly LineByK[]): readonly [number, number] {
  const ends = lines.flatMap(({ points }) =>
    points.flatMap(({ value, interval }) => [interval?.low ?? value, interval?.high ?? value]),
  );
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return low === high ? [0, 1] : [low, high];
}

/** How far from the left a k stands on this width. */
export function placeOf(ks: readonly number[], width: number): (k: number) => number {
  const [first = 1, last = 1] = [ks[0], ks.at(-1)];
  const span = Math.log2(last) - Math.log2(first) || 1;
  return (k) => (width * (Math.log2(k) - Math.log2(first))) / span;
}

/** How far beside its k the point of a line is drawn. */
export const asideOf = (line: number, lines: number): number => (line - (lines - 1) / 2) * ASIDE_PX;

/** The k that are written below: the greatest, and of the others those with room. */
export function labelledOf(ks: readonly number[], width: number): readonly number[] {
  const place = placeOf(ks, width);
  return ks.reduceRight<readonly number[]>((kept, k) => {
    const next = kept[0];
    return next === undefined || place(next) - place(k) >= LABEL_PX ? [k, ...kept] : kept;
  }, []);
}
