/** The mean of the first and of the last fifth of what single steps measured; pure. */
import { deviationOf, FEWEST } from "@/charts/floor";
import type { Curve } from "@/charts/live-curves";
import { isBucketed } from "@/components/chart/columns";
import { middleWidth } from "@/components/chart/floor-of";

export interface Fifths {
  readonly first: number;
  readonly last: number;
}

/** Of what all values span: what is steadier, such as a learning rate, is told by its newest value. */
const LEAST_NOISE = 0.02;

/** Null of what is steady, and of few values: of these a single one says enough, or all say little. */
export function fifthsOf(curve: Curve): Fifths | null {
  const values = curve.mean.filter((value) => value !== null);
  if (values.length < 2 * FEWEST) return null;
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  const noise = isBucketed(curve) ? deviationWithin(curve) : deviationOf(values);
  if (!(noise > LEAST_NOISE * (most - least))) return null;
  const places = curve.mean.map((_, place) => place);
  return { first: meanOf(curve, places), last: meanOf(curve, places.toReversed()) };
}

/** Of single values: means of buckets vary less. In dozens of values lie about four deviations. */
const deviationWithin = ({ min, max }: Curve): number => middleWidth(min, max) / 4;

/** Of the first of these places that have a fifth of all values; each bucket counts as its values. */
function meanOf({ mean, n, nNan }: Curve, places: readonly number[]): number {
  const weight = (place: number) =>
    (mean[place] ?? null) === null ? 0 : (n[place] ?? 0) - (nNan[place] ?? 0);
  const wanted = places.reduce((sum, place) => sum + weight(place), 0) / 5;
  let [total, weights] = [0, 0];
  for (const place of places) {
    if (weights >= wanted) break;
    total += weight(place) * (mean[place] ?? 0);
    weights += weight(place);
  }
  return total / weights;
}
