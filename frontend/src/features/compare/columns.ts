/** Curves of groups and of their runs as one table with one column of x, as a plot wants it. Pure. */
import type uPlot from "uplot";

import type { GroupCurve } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import type { Edges, Line } from "@/charts/plot";

import { isDashed } from "@/components/seed-groups/group-names";

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

/** Bands and means of all groups; of the runs those that are not hidden, thin. */
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
  for (const { run, group, curve } of runs)
    add(curve.x, curve.mean, { label: run, colour: colourOf(group), width: 1, alpha: 0.35 });
  for (const { group, x, value, low, high } of groups) {
    const colour = colourOf(group);
    add(x, value, {
      label: `group ${group + 1}`,
      colour,
      width: 2,
      ...(isDashed(group) && { isDashed: true }),
    });
    const hasBand = low.some((one) => one !== null);
    if (!hasBand) continue;
    const upper = add(x, high, { label: "high", colour, width: 0 });
    bands.push([upper, add(x, low, { label: "low", colour, width: 0 })]);
  }
  return { data: aligned(columns), lines, bands };
}

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
