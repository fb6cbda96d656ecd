/** What a vertical axis shows at least, so that noise does not look like a course; pure. */
import type { Span } from "@/lib/format";

import type { Column } from "./smoothing";

export interface Floor {
  /** What is always in sight; null = nothing in particular. */
  readonly includes: Span | null;
  /** How much it spans at least, in the unit of the values. */
  readonly span: number;
  /** What no value is above, as of a share: the axis goes no farther either. */
  readonly most?: number;
}

/** From the least to the greatest value, or farther, where the floor asks for it. */
export function widened(least: number, most: number, floor: Floor | null): [number, number] {
  if (floor === null) return [least, most];
  const { includes, span } = floor;
  const low = Math.min(least, includes?.low ?? least);
  const high = Math.max(most, includes?.high ?? most);
  const missing = span - (high - low);
  if (!(missing > 0)) return [low, high];
  // What is never negative gets no room below zero, and what is never positive none above.
  const roomBelow = low >= 0 ? low : Infinity;
  const roomAbove = high <= 0 && low < 0 ? -high : roomUpTo(floor.most, high);
  const above = Math.min(roomAbove, Math.max(missing / 2, missing - roomBelow));
  return [low - Math.min(roomBelow, missing - above), high + above];
}

const roomUpTo = (most: number | undefined, high: number): number =>
  most === undefined || high > most ? Infinity : most - high;

/** Single steps of mere noise span about five standard deviations: half of such an axis. */
const DEVIATIONS = 10;
/** Of the greatest value: a change of half as much counts in no verdict on a loss. */
const PART = 0.02;
export const FEWEST = 8;
/** The median distance of a value from the line between its neighbours, twice, of unit noise. */
const MEDIAN_OF_UNIT = 0.6745 * Math.sqrt(6);

/**
 * How much an axis spans at least so that the noise of these values looks like noise. `ofFew`: which
 * part of the greatest value it spans where there are too few to tell; 0 = what they span.
 */
export function noiseSpan(column: Column, ofFew = 0): number {
  const values = column.filter((value) => value !== null);
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  if (!(least < most)) return 0;
  const greatest = Math.max(Math.abs(least), Math.abs(most));
  if (values.length < FEWEST) return ofFew * greatest;
  return Math.max(DEVIATIONS * deviationOf(values), PART * greatest);
}

/** The standard deviation of eight or more values around whatever they follow. */
export function deviationOf(values: readonly number[]): number {
  // From second differences (Gasser et al. 1986), so that a course is no noise, nor a single jump.
  const distances = values
    .slice(2)
    .map((value, i) => Math.abs(value - 2 * (values[i + 1] ?? value) + (values[i] ?? value)))
    .sort((a, b) => a - b);
  return (distances[Math.floor(distances.length / 2)] ?? 0) / MEDIAN_OF_UNIT;
}
