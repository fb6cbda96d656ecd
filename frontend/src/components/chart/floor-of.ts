/** How much the vertical axis of a metric's chart shows at least; pure. */
import type { Floor } from "@/charts/floor";
import type { Curve, Zoom } from "@/charts/live-curves";
import { SHARE } from "@/components/metrics/explained";

import { at, valuesOf, type Drawn } from "./columns";

/**
 * Two evaluations that differ clearly are 0.7 widths of an interval apart or more: a sixth of such
 * an axis. What is nearer looks as flat as it is.
 */
const INTERVALS = 4;
/** Single steps of mere noise span about five standard deviations: half of such an axis. */
const DEVIATIONS = 10;
/** Of the greatest value: a change of half as much counts in no verdict on a loss. */
const PART = 0.02;

const FEWEST_FOR_NOISE = 8;
const NONE: Floor = { includes: null, span: 0 };

/** Null of a part that the reader has zoomed into: it is fitted to its values. */
export function floorOf(drawn: Drawn, zoom: Zoom): Floor | null {
  if (zoom !== null) return null;
  const { metric, isEvaluation } = drawn.explained;
  const includes =
    metric?.axis ?? (metric?.unit === SHARE && !isEvaluation ? { low: 0, high: 1 } : null);
  if (includes !== null) return { includes, span: 0 };
  const [low, high] = drawn.low === null ? [drawn.noise?.low, drawn.noise?.high] : endsOf(drawn);
  const width = low == null || high == null ? 0 : widthOf(low, high);
  return width > 0 ? { ...NONE, span: INTERVALS * width } : { ...NONE, span: noiseSpan(drawn) };
}

const endsOf = ({ low, high }: Drawn) => [low, high] as const;

/** The width of the interval in the middle, from the narrowest to the widest. */
function widthOf(low: Curve, high: Curve): number {
  const highs = at(low.x, high);
  const widths = low.last
    .flatMap((end, i) => {
      const other = highs[i] ?? null;
      return end === null || other === null ? [] : [other - end];
    })
    .sort((a, b) => a - b);
  return widths[Math.floor(widths.length / 2)] ?? 0;
}

function noiseSpan(drawn: Drawn): number {
  const values = valuesOf(drawn).filter((value) => value !== null);
  if (values.length < FEWEST_FOR_NOISE) return 0;
  let [squares, least, most] = [0, Infinity, -Infinity];
  for (const [i, value] of values.entries()) {
    squares += (value - (values[i - 1] ?? value)) ** 2;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least === most) return 0;
  // From the differences of neighbours (von Neumann 1941), so that a course is no noise.
  const deviation = Math.sqrt(squares / (2 * (values.length - 1)));
  return Math.max(DEVIATIONS * deviation, PART * Math.max(Math.abs(least), Math.abs(most)));
}
