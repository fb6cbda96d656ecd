/** From values to places on a picture, with ticks at round values; pure. */
import { shortened } from "../axes";
import { widened, type Floor } from "../floor";
import type { Axis } from "../live-curves";
import * as ticks from "../ticks";
import { duration } from "@/lib/format";

export interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  readonly ticks: readonly Tick[];
  /** Whether no line leads from its ticks through the picture: they are names of what is drawn. */
  readonly isNames?: boolean;
}

/** Where a value lies between 0 (low) and 1 (high). */
export function placeOf({ low, high, isLog }: Scale, value: number): number {
  const map = isLog ? Math.log10 : (one: number) => one;
  return (map(value) - map(low)) / (map(high) - map(low));
}

const MOST_Y = 6;
const MOST_X = 8;

/** The smallest of 1, 2 and 5 times a power of ten that gives at most so many ticks. */
function roundDistance(span: number, most: number): number {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return [1, 2, 5, 10].map((n) => n * power).find((one) => span / one <= most) ?? 10 * power;
}

/** Multiples of a distance; from whole numbers, so that no error adds up. */
function multiples(low: number, high: number, distance: number): number[] {
  const first = Math.ceil(low / distance - 1e-9);
  const n = Math.floor(high / distance + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, n) }, (_, i) => (first + i) * distance);
}

/** Around these values, and what is shown at least, out to the next ticks. */
export function verticalScale(
  values: readonly number[],
  isLog: boolean,
  floor: Floor | null = null,
): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(high >= low)) [low, high] = isLog ? [0.1, 1] : [0, 1];
  if (isLog) return logScale(low, high);
  [low, high] = widened(low, high, floor);
  if (high === low) [low, high] = [low - (Math.abs(low) || 1), high + (Math.abs(high) || 1)];
  const distance = roundDistance(high - low, MOST_Y);
  const from = Math.floor(low / distance + 1e-9) * distance;
  const to = Math.ceil(high / distance - 1e-9) * distance;
  const decimals = ticks.decimalsOf(distance);
  return {
    ...{ low: from, high: to, isLog },
    ticks: multiples(from, to, distance).map((at) => ({ at, text: shortened(at, decimals) })),
  };
}

function logScale(low: number, high: number): Scale {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high) + 1e-9)];
  const stride = Math.ceil((last - first) / MOST_Y);
  const powers = multiples(first, last, stride);
  return {
    ...{ low: 10 ** first, high: 10 ** Math.max(last, first + 1), isLog: true },
    ticks: powers.map((power) => ({ at: 10 ** power, text: `1e${power}` })),
  };
}

/** From the first to the last x. */
export function horizontalScale(axis: Axis, low: number, high: number): Scale {
  const span = high - low || 1;
  const isTime = axis === "relative" || axis === "time";
  const distance =
    (isTime ? ticks.SPANS_S : ticks.WHOLE_DISTANCES).find((one) => span / one <= MOST_X) ??
    roundDistance(span, MOST_X);
  const text = (at: number) => {
    if (axis === "relative") return at === 0 ? "0" : duration(at);
    if (axis === "time") return new Date(1000 * at).toLocaleString("en-GB", TIME);
    return ticks.whole(at);
  };
  const places = multiples(low, low + span, distance);
  return {
    ...{ low, high: low + span, isLog: false },
    ticks: places.map((at) => ({ at, text: text(at) })),
  };
}

const TIME = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;

/** Names in a row, each in the middle of its part of 0 to n; downwards: the first on top. */
export function nameScale(names: readonly string[], isDownwards = false): Scale {
  const ticks = names.map((text, place) => ({ at: place + 0.5, text }));
  const [low, high] = isDownwards ? [names.length, 0] : [0, names.length];
  return { low, high, isLog: false, ticks, isNames: true };
}
