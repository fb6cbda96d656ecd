/** What a chart draws of a metric and says of it: columns as uPlot wants them, and how; pure. */
import type uPlot from "uplot";

import { placeText, upToText } from "@/charts/axes";
import type { Axis, Curve } from "@/charts/live-curves";
import type { Edges, Line } from "@/charts/plot";
import { smooth } from "@/charts/smoothing";
import { whole } from "@/charts/ticks";
import type { Explained } from "@/components/metrics/explained";
import { number, plural } from "@/lib/format";

/** A metric of a run. */
export interface Drawn {
  readonly explained: Explained;
  readonly curve: Curve;
  /** The ends of its 95 % interval. */
  readonly low: Curve | null;
  readonly high: Curve | null;
  /** The ends of the intervals of another metric, which tell how noisy it is. */
  readonly noise?: { readonly low: Curve; readonly high: Curve } | null;
}

/** More whiskers than this are a band. */
const MOST_WHISKERS = 100;

/** As thin as can be seen: of a band alone, a spike that is narrower than a pixel would not be. */
const EXTREME_PX = 0.5;

/** Series of a plot by their number: the values, their smoothed course, the edges around them. */
const HIGH = 3;
const LOW = 4;
const EDGES: Edges = [HIGH, LOW];

export interface Shape {
  readonly lines: readonly Line[];
  readonly bands: readonly Edges[];
  readonly whiskers: readonly Edges[];
}

/** How a chart shows all of its curves. */
interface Shown {
  readonly smoothing: number;
  readonly isLog: boolean;
}

/** Everything of a metric that a plot needs. */
export interface Plotted extends Shape {
  readonly data: uPlot.AlignedData;
  /** Where a value is missing. */
  readonly marks: readonly number[];
  /** What it shows, in words. */
  readonly label: string;
}

export function plotted(drawn: Drawn, { smoothing, isLog }: Shown, colour: string): Plotted {
  const { curve } = drawn;
  return {
    ...shapeOf(drawn, colour, smoothing),
    data: columnsOf(drawn, smoothing, isLog),
    marks: curve.x.filter((_, place) => (curve.nNan[place] ?? 0) > 0),
    label: labelOf(drawn, isLog),
  };
}

function labelOf(drawn: Drawn, isLog: boolean): string {
  const { explained, curve } = drawn;
  const [nNan, nHidden] = [nNanOf(drawn), isLog ? nNotPositive(drawn) : 0];
  const drawnAs = explained.isEvaluation ? "the last of each" : "the means";
  const parts = [
    `${explained.title}: ${plural(curve.ends.n, "point")}`,
    ...(nNan > 0 ? [`${whole(nNan)} of them without a value`] : []),
    ...(isBucketed(curve) ? [`drawn as ${drawnAs} of ${plural(curve.x.length, "bucket")}`] : []),
    ...(nHidden > 0
      ? [
          `${whole(nHidden)} ${isBucketed(curve) ? "buckets" : "points"} with a value or interval end of 0 or less`,
        ]
      : []),
    `newest ${number(curve.ends.newest)}`,
  ];
  return parts.join(", ");
}

export function shapeOf(
  { explained, curve, low }: Drawn,
  colour: string,
  smoothing: number,
): Shape {
  const hasEdges = low !== null || (!explained.isEvaluation && isBucketed(curve));
  const edge = { label: "edge", colour, width: low === null ? EXTREME_PX : 0 };
  const edges = [
    { ...edge, isHidden: !hasEdges },
    { ...edge, isHidden: !hasEdges },
  ];
  const smoothed = { label: "smoothed", colour, width: 1.8 };
  if (explained.isEvaluation) {
    const isSparse = areSparse(curve.x);
    return {
      lines: [
        { label: "value", colour, width: 1, isMarked: isSparse },
        { ...smoothed, isHidden: true },
        ...edges,
      ],
      bands: hasEdges && !isSparse ? [EDGES] : [],
      whiskers: hasEdges && isSparse ? [EDGES] : [],
    };
  }
  const isSmoothed = smoothing > 0;
  return {
    lines: [
      { label: "value", colour, width: 1.2, alpha: isSmoothed ? 0.28 : 1 },
      { ...smoothed, isHidden: !isSmoothed },
      ...edges,
    ],
    bands: hasEdges ? [EDGES] : [],
    whiskers: [],
  };
}

/** Whether evaluations at these places are few enough for a marker each. */
export const areSparse = (x: readonly number[]): boolean => x.length <= MOST_WHISKERS;

export function columnsOf(drawn: Drawn, smoothing: number, isLog: boolean): uPlot.AlignedData {
  const { curve, explained } = drawn;
  const shown = (column: Column): (number | null)[] =>
    isLog ? column.map((value) => (value !== null && value > 0 ? value : null)) : [...column];
  const values = valuesOf(drawn);
  const hasSmoothed = smoothing > 0 && !explained.isEvaluation;
  return [
    [...curve.x],
    shown(values),
    hasSmoothed ? shown(smooth(values, smoothing)) : values.map(() => null),
    ...edgesOf(drawn).map(shown),
  ];
}

/** What is around the values: their intervals, or the extremes of their buckets; high, then low. */
const edgesOf = ({ curve, low, high }: Drawn): readonly [Column, Column] => [
  high === null ? curve.max : at(curve.x, high),
  low === null ? curve.min : at(curve.x, low),
];

type Column = readonly (number | null)[];

/** Of an evaluation the last of each bucket: a mean of several would be one that nobody measured. */
export const valuesOf = ({ explained, curve }: Drawn): Column =>
  explained.isEvaluation ? curve.last : curve.mean;

const sum = (column: readonly number[]) => column.reduce((total, one) => total + one, 0);

/** Points without a value. */
export const nNanOf = ({ curve }: Drawn): number => sum(curve.nNan);

/** Places of which a logarithmic scale cannot draw the value or what is around it. */
export function nNotPositive(drawn: Drawn): number {
  const columns = [valuesOf(drawn), ...edgesOf(drawn)];
  const isHidden = (place: number) => columns.some((column) => (column[place] ?? Infinity) <= 0);
  return drawn.curve.x.filter((_, place) => isHidden(place)).length;
}

/** The last values of a curve at these x; null where it has none. */
export function at(xs: readonly number[], curve: Curve): (number | null)[] {
  const known = new Map(curve.x.map((x, place) => [x, curve.last[place] ?? null]));
  return xs.map((x) => known.get(x) ?? null);
}

export const isBucketed = (curve: Curve): boolean => curve.n.some((n) => n > 1);

/** What a curve says at an x. */
export interface Said {
  readonly place: number;
  readonly value: number | null;
  /** The ends of its interval; null = it has none. */
  readonly low: number | null;
  readonly high: number | null;
}

/** The value at an x: its own, that of the bucket that holds it, or the last before; null = none. */
export function saidAt(drawn: Drawn, x: number): Said | null {
  const { curve, low, high } = drawn;
  const place = placeAt(curve, x);
  if (place < 0) return null;
  const end = (of: Curve | null) =>
    of === null ? null : (at([curve.x[place] ?? x], of)[0] ?? null);
  return { place, value: valuesOf(drawn)[place] ?? null, low: end(low), high: end(high) };
}

function placeAt({ x: xs, n }: Curve, x: number): number {
  const before = xs.findLastIndex((one) => one <= x);
  // A bucket has the name of its greatest x.
  const isInNext = xs[before] !== x && (n[before + 1] ?? 1) > 1;
  return isInNext ? before + 1 : before;
}

/** What the value at a place is, and where: step 12, or a mean of 512 values up to step 511. */
export function vertexText({ explained, curve }: Drawn, axis: Axis, place: number): string {
  const x = curve.x[place] ?? 0;
  const n = (curve.n[place] ?? 1) - (curve.nNan[place] ?? 0);
  if (n <= 1) return placeText(axis, x);
  return `${explained.isEvaluation ? "last" : "mean"} of ${whole(n)} values ${upToText(axis, x)}`;
}
