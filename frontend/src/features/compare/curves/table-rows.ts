/** Curves of groups and runs as a few rows: what each says at a place of the axis. Pure. */
import type { GroupCurve } from "@/api/seed-groups";
import type { Curve, Zoom } from "@/charts/live-curves";
import { valuesOf } from "@/components/chart/columns";

import type { RunCurve } from "./columns";

export const MOST_ROWS = 40;

/** What a group says together; null = it has no mean there. */
export interface GroupCell {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
  /** How many values are in no mean, because they are not finite. */
  readonly nNan: number;
}

export interface Row {
  readonly x: number;
  /** One per group; null = it has no value there. */
  readonly groups: readonly (GroupCell | null)[];
  /** One per run; null = it has no value there. */
  readonly runs: readonly (number | null)[];
}

export interface Rows {
  readonly rows: readonly Row[];
  /** How many places the curves have in all. */
  readonly n: number;
}

export function tableOf(
  groups: readonly GroupCurve[],
  runs: readonly RunCurve[],
  zoom: Zoom,
): Rows {
  const [from, to] = zoom ?? [-Infinity, Infinity];
  const of = [...groups.map(({ x }) => x), ...runs.map(({ curve }) => curve.x)];
  const places = [...new Set(of.flatMap((x) => [...x]))]
    .filter((x) => x >= from && x <= to)
    .sort((a, b) => a - b);
  const bucketed = new Set(runs.filter(({ curve }) => areBuckets(curve)).map(({ run }) => run));
  const rows = chosen(places).map((x) => ({
    x,
    groups: groups.map((one) => groupCell(one, x)),
    runs: runs.map((one) => runCell(one, x, bucketed.has(one.run))),
  }));
  return { rows, n: places.length };
}

/** Evenly spread, always with the first and the last. */
function chosen(places: readonly number[]): readonly number[] {
  if (places.length <= MOST_ROWS) return places;
  const distance = (places.length - 1) / (MOST_ROWS - 1);
  return Array.from({ length: MOST_ROWS }, (_, i) => places[Math.round(i * distance)] ?? 0);
}

/** Single points may share a place, too. */
const areBuckets = ({ n }: Curve): boolean => n.filter((one) => one > 1).length > n.length / 2;

/** A value at the place, or that of the bucket that holds it; never one of a later place. */
function runCell(one: RunCurve, at: number, isBucketed: boolean): number | null {
  const { x } = one.curve;
  const place = x.findIndex((one) => one >= at);
  // Where the first bucket begins is not known.
  return x[place] === at || (isBucketed && place > 0) ? (valuesOf(one)[place] ?? null) : null;
}

/** All groups have their buckets at the same places. */
function groupCell(
  { x, value, low, high, n, n_nan: nNan }: GroupCurve,
  at: number,
): GroupCell | null {
  const place = x.indexOf(at);
  const count = n[place];
  if (count === undefined) return null;
  return {
    value: value[place] ?? null,
    low: low[place] ?? null,
    high: high[place] ?? null,
    n: count,
    nNan: nNan[place] ?? 0,
  };
}
