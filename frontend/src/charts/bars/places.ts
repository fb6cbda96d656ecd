/** Where bars stand and how far their scale reaches. Pure. */

export interface Bar {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface BarSeries {
  readonly name: string;
  readonly colour: string;
  /** By level; null = not measured. */
  readonly bars: readonly (Bar | null)[];
  /** What the others are compared with, or a colour that comes again. */
  readonly isHollow?: boolean;
}

const SHARE_OF_LEVEL = 0.8;
const WIDEST = 44;

/** From 0, or below it, to the greatest end of an interval. */
export function rangeOfBars(series: readonly BarSeries[]): readonly [number, number] {
  const bars = series.flatMap((one) => one.bars.flatMap((bar) => (bar === null ? [] : [bar])));
  const ends = bars.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  return high > low ? [low, high] : [0, 1];
}

export interface Places {
  readonly width: number;
  readonly left: (level: number, series: number) => number;
  readonly middle: (level: number) => number;
}

/** Bars of a level stand beside each other in the middle of its share of the width. */
export function barPlaces(levels: number, series: number, width: number): Places {
  const share = width / Math.max(1, levels);
  const one = Math.min(WIDEST, (SHARE_OF_LEVEL * share) / Math.max(1, series));
  const middle = (level: number) => (level + 0.5) * share;
  return {
    width: Math.max(1, one - 2),
    left: (level, place) => middle(level) + (place - series / 2) * one + 1,
    middle,
  };
}
