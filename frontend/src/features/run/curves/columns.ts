/** What a chart draws of a metric and says of it: columns as uPlot wants them, and how; pure. */
import type uPlot from "uplot";

import type { Axis, Curve } from "@/charts/live-curves";
import type { Edges, Line } from "@/charts/plot";
import { smooth } from "@/charts/smoothing";
import { whole } from "@/charts/ticks";
import type { View } from "@/features/run/view";
import { duration, number } from "@/lib/format";

import type { Drawn } from "./layout";

/** More whiskers than this are a band. */
const MOST_WHISKERS = 100;

/** Series of a plot by their number: the values, their smoothed course, the edges around them. */
const HIGH = 3;
const LOW = 4;
const EDGES: Edges = [HIGH, LOW];

export interface Shape {
  readonly lines: readonly Line[];
  readonly bands: readonly Edges[];
  readonly whiskers: Edges | null;
}

/** Everything of a metric that a plot needs. */
export interface Plotted extends Shape {
  readonly data: uPlot.AlignedData;
  /** Where a value is missing. */
  readonly marks: readonly number[];
  /** What it shows, in words. */
  readonly label: string;
}

export function plotted(
  drawn: Drawn,
  { smoothing, isLog }: Pick<View, "smoothing" | "isLog">,
  colour: string,
): Plotted {
  const { curve } = drawn;
  return {
    ...shapeOf(drawn, colour, smoothing),
    data: columnsOf(drawn, smoothing, isLog),
    marks: curve.x.filter((_, place) => (curve.nNan[place] ?? 0) > 0),
    label: labelOf(drawn),
  };
}

function labelOf(drawn: Drawn): string {
  const values = knownOf(drawn);
  const nNan = nNanOf(drawn);
  const missing = nNan > 0 ? `${nNan} of them without a value, ` : "";
  const newest = number(values.at(-1) ?? null);
  return `${drawn.explained.title}: ${values.length} points, ${missing}newest ${newest}`;
}

export function shapeOf(
  { explained, curve, low }: Drawn,
  colour: string,
  smoothing: number,
): Shape {
  const edge = { label: "edge", colour, width: 0 };
  const hasEdges = low !== null || (!explained.isEvaluation && isBucketed(curve));
  const edges = [
    { ...edge, isHidden: !hasEdges },
    { ...edge, isHidden: !hasEdges },
  ];
  const smoothed = { label: "smoothed", colour, width: 1.8 };
  if (explained.isEvaluation) {
    const isSparse = curve.x.length <= MOST_WHISKERS;
    return {
      lines: [
        { label: "value", colour, width: 1, isMarked: isSparse },
        { ...smoothed, isHidden: true },
        ...edges,
      ],
      bands: hasEdges && !isSparse ? [EDGES] : [],
      whiskers: hasEdges && isSparse ? EDGES : null,
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
    whiskers: null,
  };
}

export function columnsOf(drawn: Drawn, smoothing: number, isLog: boolean): uPlot.AlignedData {
  const { curve, low, high, explained } = drawn;
  const shown = (column: Column): (number | null)[] =>
    isLog ? column.map((value) => (value !== null && value > 0 ? value : null)) : [...column];
  const values = valuesOf(drawn);
  const hasSmoothed = smoothing > 0 && !explained.isEvaluation;
  return [
    [...curve.x],
    shown(values),
    hasSmoothed ? shown(smooth(values, smoothing)) : values.map(() => null),
    shown(high === null ? curve.max : at(curve.x, high)),
    shown(low === null ? curve.min : at(curve.x, low)),
  ];
}

type Column = readonly (number | null)[];

/** Of an evaluation the last of each bucket: a mean of several would be one that nobody measured. */
export const valuesOf = ({ explained, curve }: Drawn): Column =>
  explained.isEvaluation ? curve.last : curve.mean;

export const knownOf = (drawn: Drawn): readonly number[] =>
  valuesOf(drawn).filter((value) => value !== null);

/** Points without a value. */
export const nNanOf = ({ curve }: Drawn): number => curve.nNan.reduce((sum, one) => sum + one, 0);

/** The last values of a curve at these x; null where it has none. */
export function at(xs: readonly number[], curve: Curve): (number | null)[] {
  const known = new Map(curve.x.map((x, place) => [x, curve.last[place] ?? null]));
  return xs.map((x) => known.get(x) ?? null);
}

export const isBucketed = (curve: Curve): boolean =>
  curve.max.some((value, place) => value !== curve.min[place]);

/** A place on the horizontal axis in words: step 1,200. */
export function placeText(axis: Axis, x: number): string {
  if (axis === "step") return `step ${whole(x)}`;
  if (axis === "tokens") return `${whole(x)} tokens`;
  if (axis === "relative") return `after ${duration(x)}`;
  return new Date(1000 * x).toLocaleString();
}
