/** Curves of groups and of their runs as one table with one column of x, as a plot wants it. Pure. */
import type uPlot from "uplot";

import type { GroupCurve } from "@/api/seed-groups";
import type { Axis } from "@/charts/live-curves";
import type { Edges, Line } from "@/charts/plot";
import { smooth } from "@/charts/smoothing";
import { areSparse, plotted, type Drawn } from "@/components/chart/columns";
import { FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { isDashed } from "@/components/seed-groups/group-names";

import { fullSize } from "./reading";

export interface Together {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of places of lines that enclose a band. */
  readonly bands: readonly Edges[];
  /** And of those between which each point has a whisker. */
  readonly whiskers: readonly Edges[];
  /** Where a value is not finite. */
  readonly marks: readonly number[];
}

/** A metric of a run of a group. */
export interface RunCurve extends Drawn {
  readonly run: string;
  readonly group: number;
}

type Column = readonly (number | null)[];

/** How all curves of a chart are drawn. */
export interface Look {
  readonly smoothing: number;
  readonly isLog: boolean;
}

const AS_MEASURED: Look = { smoothing: 0, isLog: false };
/** Below its smoothed course. */
const PALE = { alpha: 0.28 } as const;
/** Of a run beside the mean of its group. */
const THIN = { width: 1, alpha: 0.35 } as const;

type Values = ArrayLike<number | null | undefined>;

/** The table while it grows. */
class Columns {
  readonly lines: Line[] = [];
  readonly bands: Edges[] = [];
  readonly whiskers: Edges[] = [];
  readonly marks = new Set<number>();
  private readonly columns: { x: ArrayLike<number>; y: Values }[] = [];

  /** The place of the line. */
  add(x: ArrayLike<number>, y: Values, line: Line): number {
    this.columns.push({ x, y });
    this.lines.push(line);
    return this.lines.length;
  }

  mark(x: readonly number[], nNan: readonly number[]): void {
    for (const [place, at] of x.entries()) if ((nNan[place] ?? 0) > 0) this.marks.add(at);
  }

  together(): Together {
    const { lines, bands, whiskers } = this;
    const marks = [...this.marks].sort((a, b) => a - b);
    return { data: aligned(this.columns), lines, bands, whiskers, marks };
  }
}

/**
 * Bands and means of all groups, dashed and apart where some seeds have no value: a mean of those
 * that are left may jump. Of the runs those that are not hidden: thin beside a mean, and all that a
 * group of fewer than three seeds has, drawn as on the page of the run. What is smoothed is drawn
 * over what was measured; a thin line and the interval of a mean stay as measured.
 */
export function drawn(
  groups: readonly GroupCurve[],
  runs: readonly RunCurve[],
  colourOf: (group: number) => string,
  axis: Axis,
  look: Look = AS_MEASURED,
): Together {
  const columns = new Columns();
  const means = groups.filter(hasMean);
  const withMean = new Set(means.map(({ group }) => group));
  const isEvaluation = runs.some(({ explained }) => explained.isEvaluation);
  for (const one of runs) addRun(columns, one, colourOf(one.group), withMean.has(one.group), look);
  for (const one of means)
    // By tokens or time a mean has values between evaluations, where nothing was measured.
    addMean(columns, one, colourOf(one.group), isEvaluation && axis === "step", look);
  return columns.together();
}

function addRun(
  columns: Columns,
  one: RunCurve,
  colour: string,
  isThin: boolean,
  look: Look,
): void {
  // The interval of a group says more than those of its runs, which would cover it.
  const [shown, smoothing] = isThin
    ? [{ ...one, low: null, high: null }, 0]
    : [one, look.smoothing];
  const plot = plotted(shown, { ...look, smoothing }, colour);
  const [x, ...ys] = plot.data;
  const places = plot.lines.map((line, i) => {
    if (line.isHidden === true) return 0;
    const own =
      line.label === "value"
        ? { label: one.run, ...(isThin ? {} : styleOf(one.group)) }
        : line.label === "smoothed"
          ? dashOf(one.group)
          : {};
    return columns.add(x, ys[i] ?? [], { ...line, ...own, ...(isThin && thin(line)) });
  });
  const moved = ([high, low]: Edges): Edges => [places[high - 1] ?? 0, places[low - 1] ?? 0];
  columns.bands.push(...plot.bands.map(moved));
  columns.whiskers.push(...plot.whiskers.map(moved));
  // What is missing in a mean is told by the mean.
  if (!isThin) columns.mark(one.curve.x, one.curve.nNan);
}

const styleOf = (group: number) => ({ width: 1.5, ...dashOf(group) });

const thin = ({ width = 1 }: Line) => ({ ...THIN, width: Math.min(width, THIN.width) });

function addMean(
  columns: Columns,
  one: GroupCurve,
  colour: string,
  isMarkable: boolean,
  { smoothing, isLog }: Look,
): void {
  const { group, x, n, n_nan: nNan } = one;
  const shown = (column: Column): Column => (isLog ? positive(column) : column);
  const [value, low, high] = [one.value, one.low, one.high].map(shown) as [Column, Column, Column];
  const full = fullSize(one);
  const isSmoothed = smoothing > 0;
  const line = { label: `group ${group + 1}`, colour, width: 2 };
  const raw = isSmoothed ? { ...line, ...PALE } : line;
  const isMarked = isMarkable && areSparse(x);
  columns.add(
    x,
    where(value, (i) => n[i] === full),
    { ...raw, ...dashOf(group), ...(isMarked && { isMarked }) },
  );
  const isPartial = value.some((each, i) => each !== null && n[i] !== full);
  if (isPartial)
    columns.add(
      x,
      where(value, (i) => n[i] !== full),
      { ...raw, isDashed: true, isMarked: true },
    );
  if (isSmoothed) {
    const course = shown(smooth(one.value, smoothing));
    columns.add(
      x,
      where(course, (i) => n[i] === full),
      { ...line, ...dashOf(group) },
    );
    if (isPartial)
      columns.add(
        x,
        where(course, (i) => n[i] !== full),
        { ...line, isDashed: true },
      );
  }
  const upper = columns.add(x, high, { label: "high", colour, width: 0 });
  columns.bands.push([upper, columns.add(x, low, { label: "low", colour, width: 0 })]);
  columns.mark(x, nNan);
}

export const hasMean = (curve: GroupCurve): boolean => fullSize(curve) >= FEWEST_FOR_MEAN;

const dashOf = (group: number) => (isDashed(group) ? { isDashed: true } : {});

/** What a logarithmic scale can draw. */
const positive = (column: Column): Column =>
  column.map((one) => (one !== null && one > 0 ? one : null));

const where = (column: Column, isKept: (place: number) => boolean): Column =>
  column.map((one, place) => (isKept(place) ? one : null));

function aligned(columns: readonly { x: ArrayLike<number>; y: Values }[]): uPlot.AlignedData {
  const all = [...new Set(columns.flatMap(({ x }) => Array.from(x)))].sort((a, b) => a - b);
  const place = new Map(all.map((x, i) => [x, i]));
  const filled = columns.map(({ x, y }) => {
    // `undefined` is no gap for a plot: the line goes on to the next value of its own.
    const column = new Array<number | null | undefined>(all.length).fill(undefined);
    for (let i = 0; i < x.length; i += 1) column[place.get(x[i] ?? NaN) ?? 0] = y[i] ?? null;
    return column;
  });
  return [all, ...filled];
}
