/** Bars with their intervals as parts of a picture; pure. */
import type { Cell } from "../export/cells";
import { nameScale, verticalScale } from "../export/scale";
import { PLOT_HEIGHT, type LegendLine, type Picture } from "../export/svg";
import { barPlaces, rangeOfBars, type BarSeries } from "./places";

type Drawn = Pick<
  Picture,
  "axis" | "isLog" | "data" | "lines" | "bands" | "whiskers" | "cells" | "across" | "up" | "range"
> & { readonly legend: readonly LegendLine[] };

/** What a picture has for all levels, so that few bars are not wider than on the page. */
const WIDTH_PX = 728;
const END = { label: "interval", colour: "--ink", width: 0 } as const;

/** A place for each level, a bar for each series. */
export function pictureOfBars(
  levels: readonly string[],
  series: readonly BarSeries[],
  levelName: string,
): Drawn {
  const level = WIDTH_PX / Math.max(1, levels.length);
  const places = barPlaces(levels.length, series.length, WIDTH_PX);
  const bars = levels.flatMap((_, i) =>
    series.flatMap(({ bars: own, colour, isHollow = false }, k) => {
      const bar = own[i];
      if (bar == null) return [];
      const left = places.left(i, k) / level;
      return [{ ...bar, colour, isHollow, x: [left, left + places.width / level] as const }];
    }),
  );
  const up = verticalScale(rangeOfBars(series), false);
  // A bar of 0 is a line, as on the page: it was measured.
  const px = (up.high - up.low) / PLOT_HEIGHT;
  const cells = bars.map(({ value, colour, isHollow, x }): Cell => ({
    ...{ x, colour, isHollow },
    y: [Math.min(0, value), Math.max(0, value, Math.min(0, value) + px)],
  }));
  return {
    ...{ axis: "step", isLog: false, range: null, bands: [], cells },
    data: [
      bars.map(({ x }) => (x[0] + x[1]) / 2),
      bars.map(({ high }) => high),
      bars.map(({ low }) => low),
    ],
    lines: [END, END],
    whiskers: [[1, 2]],
    across: { scale: nameScale(levels), label: levelName },
    up,
    legend: series.map(({ name, colour, isHollow = false }) => ({
      ...{ label: name, colour, isDashed: false },
      surface: isHollow ? "hollow" : "filled",
    })),
  };
}
