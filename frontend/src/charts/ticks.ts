/** Where an axis has its ticks and what stands beside them; pure. */

import { number } from "@/lib/format";

export const CHARACTER_PX = 6.7;
const GAP_PX = 24;
const FEWEST_TICKS = 3;
const MOST_DIGITS = 15;

/** Distances between ticks of steps and tokens, of which there are no halves: 1, 2, 5, 10, ... */
export const WHOLE_DISTANCES: readonly number[] = Array.from({ length: MOST_DIGITS }, (_, digits) =>
  [1, 2, 5].map((n) => n * 10 ** digits),
).flat();

/** A whole number in full: 1,000,000. */
export const whole = (value: number): string => number(Math.round(value));

const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** A whole number as short as it goes without losing a digit that tells it from its neighbours. */
export function shortWhole(value: number, distance: number): string {
  const size = Math.abs(value);
  const [unit, letter] = UNITS.find(([one]) => size >= one) ?? [1, ""];
  const digits = Math.max(0, Math.ceil(Math.log10(unit) - Math.log10(distance) - 1e-9));
  return `${(value / unit).toFixed(Math.min(digits, 9))}${letter}`.replace("-", "−");
}

/** How far apart ticks are at least, in pixels, and whether their numbers stand in full. */
export interface Room {
  readonly space: number;
  readonly isFull: boolean;
}

export function roomFor(greatest: number, width: number): Room {
  const px = (text: string) => text.length * CHARACTER_PX + GAP_PX;
  const full = px(whole(greatest));
  if (width / full >= FEWEST_TICKS) return { space: full, isFull: true };
  return { space: px(shortWhole(greatest, greatest / FEWEST_TICKS)), isFull: false };
}

const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 86_400];

/** Seconds from tick to tick. */
export const SPANS_S = [
  ...[0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_S),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_S),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY_S),
];

/** The largest unit that every multiple of a span is whole in, and its seconds. */
export function unitOfSpan(span: number): readonly [number, string] {
  const units = [
    [DAY_S, "d"],
    [HOUR_S, "h"],
    [MINUTE_S, "min"],
  ] as const;
  return units.find(([size]) => span >= size) ?? [1, "s"];
}

const MOST_DECIMALS = 6;

/** The fewest decimals that tell one tick from the next: 1 for 0.5, 2 for 0.25. */
export function decimalsOf(distance: number): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals += 1) {
    const scaled = distance * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 && scaled >= 1 - 1e-6) return decimals;
  }
  return MOST_DECIMALS;
}

const TICKS = 5;

/** About five places with short numbers within a range. */
export function niceTicks(low: number, high: number): number[] {
  const rough = (high - low || 1) / TICKS;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * base).find((n) => n >= rough) ?? base;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
}

/** What stands beside each of these places, all with the decimals that tell one from the next. */
export function labelsOf(places: readonly number[]): string[] {
  const [first, second] = places;
  if (first === undefined || second === undefined) return places.map((place) => number(place));
  const decimals = decimalsOf(second - first);
  return places.map((place) => place.toFixed(decimals).replace("-", "−"));
}
