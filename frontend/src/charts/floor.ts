/** What a vertical axis shows at least, so that noise does not look like a course; pure. */
import type { Span } from "@/lib/format";

export interface Floor {
  /** What is always in sight; null = nothing in particular. */
  readonly includes: Span | null;
  /** How much it spans at least, in the unit of the values. */
  readonly span: number;
}

/** From the least to the greatest value, or farther, where the floor asks for it. */
export function widened(least: number, most: number, floor: Floor | null): [number, number] {
  if (floor === null) return [least, most];
  const { includes, span } = floor;
  const low = Math.min(least, includes?.low ?? least);
  const high = Math.max(most, includes?.high ?? most);
  const missing = span - (high - low);
  if (!(missing > 0)) return [low, high];
  // What is never negative gets no room below zero.
  const below = low >= 0 ? Math.min(low, missing / 2) : missing / 2;
  return [low - below, high + missing - below];
}
