/** How much the vertical axis of a metric's chart shows at least; pure. */
import type { Run } from "@/api/types";
import { noiseSpan, type Floor } from "@/charts/floor";
import type { Zoom } from "@/charts/live-curves";
import type { Column } from "@/charts/smoothing";
import { SHARE, type Explained } from "@/components/metrics/explained";
import type { Span } from "@/lib/format";

import { at, valuesOf, type Drawn } from "./columns";

/**
 * Two evaluations that differ clearly are 0.7 widths of an interval apart or more: a sixth of such
 * an axis. What is nearer looks as flat as it is.
 */
const INTERVALS = 4;
/** Of the greatest of a few evaluations of which nobody knows how noisy they are. */
const PART_OF_FEW = 0.5;
const NONE: Floor = { includes: null, span: 0 };
const NO_ENDS = { low: null, high: null };

type Config = Run["config"];

/** What `kl.max` limits. */
const LIMITED: ReadonlySet<string> = new Set(["kl/exact", "kl/response"]);

/** What the registry says, or as much of it as shows where a smaller limit of the KL is crossed. */
function axisOf({ metric, name }: Explained, config: Config): Span | null {
  const axis = metric?.axis ?? null;
  const limit = (config["kl"] as { max?: unknown } | undefined)?.max;
  if (axis === null || typeof limit !== "number" || !LIMITED.has(name)) return axis;
  return { ...axis, high: Math.min(axis.high, 2 * limit) };
}

/** Null of a part that the reader has zoomed into: it is fitted to its values. */
export function floorOf(drawn: Drawn, zoom: Zoom, config: Config = {}): Floor | null {
  if (zoom !== null) return null;
  return floorWith(drawn.explained, noiseWidth(drawn), valuesOf(drawn), config);
}

/** Of values whose intervals are so wide; 0 = they have none. */
export function floorWith(
  explained: Explained,
  width: number,
  values: Column,
  config: Config,
): Floor {
  const { metric, isEvaluation } = explained;
  const isShare = metric?.unit === SHARE;
  const whole = isShare && !(isEvaluation && width > 0) ? { low: 0, high: 1 } : null;
  const includes = axisOf(explained, config) ?? whole;
  if (includes !== null) return { includes, span: 0 };
  const ofFew = isEvaluation && metric?.noise_of == null ? PART_OF_FEW : 0;
  const span = width > 0 ? INTERVALS * width : noiseSpan(values, ofFew);
  return { ...NONE, span, ...(isShare && { most: 1 }) };
}

/** How wide its intervals are; 0 = it has none. */
function noiseWidth(drawn: Drawn): number {
  // Where the registry names other intervals, its own are no noise.
  const { low, high } = drawn.explained.metric?.noise_of == null ? drawn : (drawn.noise ?? NO_ENDS);
  return low === null || high === null ? 0 : middleWidth(low.last, at(low.x, high));
}

/** The width of the interval in the middle, from the narrowest to the widest. */
export function middleWidth(lows: Column, highs: Column): number {
  const widths = lows
    .flatMap((end, i) => {
      const other = highs[i] ?? null;
      return end === null || other === null ? [] : [other - end];
    })
    .sort((a, b) => a - b);
  return widths[Math.floor(widths.length / 2)] ?? 0;
}
