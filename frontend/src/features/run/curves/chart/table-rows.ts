/** A curve as a few rows: its values where they are few, else what they sum up to; pure. */
import type { Curve, Zoom } from "@/charts/live-curves";
import { at, type Drawn } from "@/components/chart/columns";

export const MOST_ROWS = 40;

/** One value, or several that follow each other. */
export interface Row {
  /** First and last x; the same if it is one value. */
  readonly from: number;
  readonly to: number;
  /** How many places of the curve it sums up. */
  readonly n: number;
  /** How many finite values those have. */
  readonly nValues: number;
  /** Of all these values; null = there is none. */
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly last: number | null;
  /** The ends of the interval of one value; null = it has none. */
  readonly low: number | null;
  readonly high: number | null;
  readonly nNan: number;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** How many places of the curve there are in all; each may itself be a bucket of the server. */
  readonly n: number;
  readonly areBuckets: boolean;
  /** Whether a place that is shown is itself a bucket of several values. */
  readonly isBucketed: boolean;
  readonly hasInterval: boolean;
}

export function tableOf(drawn: Drawn, zoom: Zoom): Rows {
  const { curve } = drawn;
  const [from, to] = zoom ?? [-Infinity, Infinity];
  const first = curve.x.findIndex((x) => x >= from);
  const end = curve.x.findLastIndex((x) => x <= to) + 1;
  const n = first < 0 ? 0 : Math.max(0, end - first);
  const size = Math.max(1, Math.ceil(n / MOST_ROWS));
  const [lows, highs] = [endsOf(drawn.low, curve), endsOf(drawn.high, curve)];
  const starts = Array.from({ length: Math.ceil(n / size) }, (_, i) => first + i * size);
  const rows = starts.map((start) => {
    const stop = Math.min(start + size, end);
    const isOne = stop - start === 1;
    return {
      ...summed(curve, start, stop),
      low: isOne ? (lows[start] ?? null) : null,
      high: isOne ? (highs[start] ?? null) : null,
    };
  });
  return {
    rows,
    n,
    areBuckets: size > 1,
    isBucketed: rows.some((row) => row.nValues + row.nNan > row.n),
    hasInterval: size === 1 && drawn.low !== null,
  };
}

const endsOf = (curve: Curve | null, of: Curve) => (curve === null ? [] : at(of.x, curve));

type Column = readonly (number | null)[];

function summed(curve: Curve, start: number, stop: number): Omit<Row, "low" | "high"> {
  const known = (column: Column) =>
    column.slice(start, stop).filter((value): value is number => value !== null);
  const [mins, maxs] = [known(curve.min), known(curve.max)];
  const places = Array.from({ length: stop - start }, (_, i) => start + i);
  const valuesAt = (place: number) => (curve.n[place] ?? 0) - (curve.nNan[place] ?? 0);
  const nValues = places.reduce((sum, place) => sum + valuesAt(place), 0);
  const total = places.reduce((sum, place) => sum + valuesAt(place) * (curve.mean[place] ?? 0), 0);
  return {
    from: curve.x[start] ?? 0,
    to: curve.x[stop - 1] ?? 0,
    n: stop - start,
    nValues,
    mean: nValues === 0 ? null : total / nValues,
    min: mins.length === 0 ? null : Math.min(...mins),
    max: maxs.length === 0 ? null : Math.max(...maxs),
    last: known(curve.last).at(-1) ?? null,
    nNan: curve.nNan.slice(start, stop).reduce((sum, one) => sum + one, 0),
  };
}
