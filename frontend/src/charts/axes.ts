/** The axes of a plot: names, ticks and the room they take. */
import uPlot from "uplot";

import { duration, number } from "@/lib/format";

import { resolved } from "./colours";
import { widened, type Floor } from "./floor";
import type { Axis } from "./live-curves";
import * as ticks from "./ticks";

const MONO = '11px "JetBrains Mono Variable", ui-monospace, monospace';
const TEXT = '11px "Inter Variable", system-ui, sans-serif';

export const AXIS_NAMES: Readonly<Record<Axis, string>> = {
  step: "Step",
  tokens: "Tokens",
  relative: "Relative time",
  time: "Time",
};

/** What a column of its values is called in a file. */
export const AXIS_COLUMNS: Readonly<Record<Axis, string>> = {
  step: "step",
  tokens: "tokens",
  relative: "relative_s",
  time: "time_s",
};

/** A place on the horizontal axis in words: step 1,200. */
export function placeText(axis: Axis, x: number): string {
  if (axis === "step") return `step ${ticks.whole(x)}`;
  if (axis === "tokens") return `${ticks.whole(x)} tokens`;
  if (axis === "relative") return `after ${duration(x)}`;
  return new Date(1000 * x).toLocaleString();
}

/** All places as far as this one. */
export const upToText = (axis: Axis, x: number): string =>
  axis === "relative" ? `up to ${duration(x)} after the start` : `up to ${placeText(axis, x)}`;

/** A place below a heading that says what steps and tokens are: 1,200. */
export const cellText = (axis: Axis, x: number): string =>
  axis === "step" || axis === "tokens" ? ticks.whole(x) : placeText(axis, x);

/** Beyond the values, of their range. */
const MARGIN = 0.1;
const NAME_PX = 16;
const TICKS_PX = 22;
/** Two lines of text: the time, and below it the day. */
const TIME_TICKS_PX = 38;
const LEAST_AXIS_PX = 52;

function common(isY: boolean): uPlot.Axis {
  return {
    stroke: () => resolved("--ink-3"),
    grid: { stroke: () => resolved("--line"), width: 1, show: isY },
    ticks: { show: false },
    font: MONO,
    gap: 6,
  };
}

/** Of one value the plot would make 0 to 100 where it is 0, as if it were in percent. */
export const roomOf =
  (floor: () => Floor | null) =>
  (_: uPlot, least: number | null, most: number | null): uPlot.Range.MinMax => {
    if (least === null || most === null) return [null, null];
    const [low, high] = widened(least, most, floor());
    return low === 0 && high === 0 ? [0, 1] : uPlot.rangeNum(low, high, MARGIN, true);
  };

export function yAxis(isLog: boolean): uPlot.Axis {
  return { ...common(true), size: widthOf, values: isLog ? logTexts : tickTexts };
}

export function xAxis(axis: Axis): uPlot.Axis {
  const named = {
    ...common(false),
    label: AXIS_NAMES[axis],
    labelFont: TEXT,
    labelSize: NAME_PX,
    labelGap: 0,
    size: TICKS_PX,
  };
  if (axis === "time") return { ...named, size: TIME_TICKS_PX };
  if (axis === "relative") return { ...named, incrs: ticks.SPANS_S, values: durationTexts };
  return { ...named, ...wholeTicks() };
}

/** Ticks of whole numbers, in full if there is room; the plot asks for their room first. */
function wholeTicks(): Pick<uPlot.Axis, "incrs" | "space" | "values"> {
  let room: ticks.Room = { space: 0, isFull: true };
  return {
    incrs: [...ticks.WHOLE_DISTANCES],
    space: (_, _axis, _low, high, width) => (room = ticks.roomFor(high, width)).space,
    values: (_, places: readonly (number | null)[], _axis, _space, distance) =>
      places.map((place) => {
        if (place === null) return "";
        return room.isFull ? ticks.whole(place) : ticks.shortWhole(place, distance);
      }),
  };
}

/** So much beside a plot that the number under its last point is not cut off. */
export function rightOf(plot: uPlot): number {
  const greatest = plot.scales["x"]?.max ?? 0;
  const isWhole = Math.abs(greatest) < 1e9;
  const texts = isWhole ? ticks.whole(greatest).length : 0;
  return Math.max(14, Math.ceil((texts * ticks.CHARACTER_PX) / 2));
}

function durationTexts(
  _: uPlot,
  places: readonly (number | null)[],
  _axis: number,
  _space: number,
  distance: number,
): string[] {
  const [seconds, unit] = ticks.unitOfSpan(distance);
  return places.map((place) => (place === null ? "" : `${number(place / seconds)} ${unit}`));
}

/** As wide as the longest text beside it; most are short, so that charts of a page line up. */
function widthOf(_: uPlot, texts: readonly string[] | null): number {
  const longest = Math.max(0, ...(texts ?? []).map((text) => text.length));
  return Math.max(LEAST_AXIS_PX, Math.ceil(longest * ticks.CHARACTER_PX) + 12);
}

/** On a log scale every tick has its own size; some are hidden (null) to make room. */
function logTexts(_: uPlot, places: readonly (number | null)[]): string[] {
  return places.map((place) => (place === null ? "" : number(Number(place.toPrecision(3)))));
}

/** All ticks of an axis with the same number of decimals. */
function tickTexts(
  _: uPlot,
  places: readonly (number | null)[],
  _axis: number,
  _space: number,
  distance: number,
): string[] {
  const decimals = ticks.decimalsOf(distance);
  return places.map((place) => (place === null ? "" : shortened(place, decimals)));
}

/** A tick with so many decimals, large ones in thousands and millions. */
export function shortened(tick: number, decimals: number): string {
  const size = Math.abs(tick);
  if (size >= 1e6) return `${number(tick / 1e6)}M`;
  if (size >= 1e4) return `${number(tick / 1e3)}k`;
  const text = decimals > 5 ? number(tick) : tick.toFixed(decimals);
  return text.replace("-", "−");
}
