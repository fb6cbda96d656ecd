/** Curves of groups and of their runs as one table with one column of x, as a plot wants it. Pure. */
import type uPlot from "uplot";

import type { GroupCurve } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import type { Edges, Line } from "@/charts/plot";

import { FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { isDashed } from "@/components/seed-groups/group-names";

import { fullSize } from "./reading";

export interface Drawn {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of places of lines that enclose a band. */
  readonly bands: readonly Edges[];
}

export interface RunCurve {
  readonly run: string;
  readonly group: number;
  readonly curve: Curve;
}

type Column = readonly (number | null)[];

/**
 * Bands and means of all groups, dashed and apart where some seeds have ended: a mean of those that
 * are left may jump. Of the runs those that are not hidden: thin beside a mean, and all that a
 * group of fewer than three seeds has.
 */
export function drawn(
  groups: readonly GroupCurve[],
  runs: readonly RunCurve[],
  colourOf: (group: number) => string,
): Drawn {
  const columns: { x: readonly number[]; y: Column }[] = [];
  const lines: Line[] = [];
  const bands: [number, number][] = [];
  const add = (x: readonly number[], y: Column, line: Line) => {
    columns.push({ x, y });
    lines.push(line);
    return columns.length;
  };
  const withMean = new Set(groups.filter(hasMean).map(({ group }) => group));
  for (const { run, group, curve } of runs)
    add(curve.x, curve.mean, {
      label: run,
      colour: colourOf(group),
      ...(withMean.has(group) ? { width: 1, alpha: 0.35 } : { width: 2, ...dashOf(group) }),
    });
  for (const found of groups.filter(hasMean)) {
    const { group, x, n, value, low, high } = found;
    const colour = colourOf(group);
    const full = fullSize(found);
    const line = { label: `group ${group + 1}`, colour, width: 2 };
    add(
      x,
      where(value, (i) => n[i] === full),
      { ...line, ...dashOf(group) },
    );
    if (value.some((one, i) => one !== null && n[i] !== full))
      add(
        x,
        where(value, (i) => n[i] !== full),
        { ...line, isDashed: true, isMarked: true },
      );
    const upper = add(x, high, { label: "high", colour, width: 0 });
    bands.push([upper, add(x, low, { label: "low", colour, width: 0 })]);
  }
  return { data: aligned(columns), lines, bands };
}

export const hasMean = (curve: GroupCurve): boolean => fullSize(curve) >= FEWEST_FOR_MEAN;

const dashOf = (group: number) => (isDashed(group) ? { isDashed: true } : {});

const where = (column: Column, isKept: (place: number) => boolean): Column =>
  column.map((one, place) => (isKept(place) ? one : null));

function aligned(columns: readonly { x: readonly number[]; y: Column }[]): uPlot.AlignedData {
  const all = [...new Set(columns.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
  const place = new Map(all.map((x, i) => [x, i]));
  const filled = columns.map(({ x, y }) => {
    // `undefined` is no gap for a plot: the line goes on to the next value of its own.
    const column = new Array<number | null | undefined>(all.length).fill(undefined);
    x.forEach((at, i) => (column[place.get(at) ?? 0] = y[i] ?? null));
    return column;
  });
  return [all, ...filled];
}
