/** Measures by the number of responses as parts of a picture; pure. */
import type uPlot from "uplot";

import { verticalScale } from "../export/scale";
import type { Picture } from "../export/svg";
import type { Line } from "../kept-plot";
import { asideOf, ksOf, labelledOf, placeOf, rangeOf, type AtK, type LineByK } from "./places";

type Drawn = Pick<
  Picture,
  "axis" | "isLog" | "data" | "lines" | "bands" | "whiskers" | "across" | "up" | "range" | "legend"
>;

/** What a picture has for all k. */
const WIDTH_PX = 680;
const MARGIN_PX = 24;

/** Told apart without colours, too. */
const STYLES: readonly Partial<Line>[] = [{}, { isDashed: true }, { isDotted: true }];

/** A line for each measure over k on a scale of its logarithm, each beside the others. */
export function pictureOfLinesByK(measures: readonly LineByK[]): Drawn {
  const ks = ksOf(measures);
  const place = placeOf(ks, WIDTH_PX);
  const xOf = (k: number, i: number) => place(k) + asideOf(i, measures.length);
  const xs = measures.flatMap(({ points }, i) => points.map(({ k }) => xOf(k, i)));
  const all = [...new Set(xs)].sort((a, b) => a - b);
  const column = ({ points }: LineByK, i: number, of: (point: AtK) => number | null) => {
    const known = new Map(points.map((point) => [xOf(point.k, i), of(point)]));
    // What another line has beside this one is no gap of it.
    return all.map((x) => known.get(x));
  };
  const columns = measures.flatMap((one, i) => [
    column(one, i, ({ value }) => value),
    column(one, i, ({ interval }) => interval?.high ?? null),
    column(one, i, ({ interval }) => interval?.low ?? null),
  ]);
  const styles = measures.map((_, i) => STYLES[i % STYLES.length] ?? {});
  return {
    ...{ axis: "step", isLog: false, range: null, bands: [] },
    data: [all, ...columns] as uPlot.AlignedData,
    lines: measures.flatMap(({ name, colour }, i): Line[] => [
      { label: name, colour, isMarked: true, ...styles[i] },
      { label: "interval", colour, width: 0 },
      { label: "interval", colour, width: 0 },
    ]),
    whiskers: measures.map((_, i) => [3 * i + 2, 3 * i + 3]),
    across: {
      label: "responses (k)",
      scale: {
        ...{ low: -MARGIN_PX, high: WIDTH_PX + MARGIN_PX, isLog: false },
        ticks: labelledOf(ks, WIDTH_PX).map((k) => ({ at: place(k), text: String(k) })),
      },
    },
    up: verticalScale(rangeOf(measures), false),
    legend: measures.map(({ name, colour }, i) => ({
      ...{ label: name, colour, isDashed: styles[i]?.isDashed === true },
      ...(styles[i]?.isDotted === true && { isDotted: true }),
    })),
  };
}
