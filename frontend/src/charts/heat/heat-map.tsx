/** How values are spread, step by step: the darker a cell, the more of its column's values. */
import { useMemo } from "react";
import type uPlot from "uplot";

import { resolved } from "../colours";
import type { Axis, Zoom } from "../live-curves";
import { Plot, type Line } from "../plot";
import { bordersOf, reachOf, sharesOf, strengthOf, type Spread, type Summary } from "./bins";

export interface HeatMapProps {
  readonly spread: Spread;
  readonly summaries: readonly Summary[];
  readonly axis: Axis;
  readonly range: Zoom;
  readonly height: number;
  readonly theme: string;
  readonly label: string;
  readonly syncKey: string;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: ((x: number) => void) | undefined;
  readonly onCursor: (place: number | null) => void;
}

const ROW_PX = 3;
/** Of the only column, to each side. */
const LONE_PX = 12;
/** Places of 5 %, the median and 95 % in a summary. */
const SHOWN = [1, 3, 5] as const;

const EDGE: Line = { label: "reach", colour: "--ink", width: 0 };
const LINES: readonly Line[] = [
  EDGE,
  EDGE,
  { label: "5 %", colour: "--ink-2", width: 1, isDashed: true },
  { label: "median", colour: "--ink", width: 1.6 },
  { label: "95 %", colour: "--ink-2", width: 1, isDashed: true },
];

export function HeatMap(props: HeatMapProps) {
  const { spread, summaries, ...shared } = props;
  const [low, high] = useMemo(() => reachOf(spread), [spread]);
  const data = useMemo((): uPlot.AlignedData => {
    const inside = (value: number | undefined) =>
      value === undefined ? null : Math.min(high, Math.max(low, value));
    return [
      [...spread.x],
      // So that all that is drawn is in view.
      spread.x.map(() => low),
      spread.x.map(() => high),
      ...SHOWN.map((place) => summaries.map(({ quantiles }) => inside(quantiles[place]))),
    ];
  }, [spread, summaries, low, high]);
  return (
    <Plot
      {...shared}
      data={data}
      lines={LINES}
      isLog={false}
      onUnder={(u) => drawCells(u, spread, [low, high])}
    />
  );
}

function drawCells(u: uPlot, spread: Spread, reach: readonly [number, number]): void {
  const { left, width } = u.bbox;
  const [bottom, top] = reach.map((edge) => u.valToPos(edge, "y", true)) as [number, number];
  const height = bottom - top;
  if (!(height > 0)) return;
  const nRows = Math.max(1, Math.round(height / (ROW_PX * devicePixelRatio)));
  const columns = spread.bins.map((bins, place) =>
    sharesOf(bins, spread.counts[place] ?? [], reach, nRows),
  );
  const most = columns.reduce((sofar, shares) => Math.max(sofar, ...shares), 0);
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  u.ctx.fillStyle = resolved("--s1");
  const borders = bordersOf(
    spread.x.map((x) => u.valToPos(x, "x", true)),
    LONE_PX,
  );
  columns.forEach((shares, place) => {
    const [begin = 0, end = 0] = borders.slice(place, place + 2).map(Math.round);
    shares.forEach((share, row) => {
      if (share === 0) return;
      const [below, above] = [row, row + 1].map((one) =>
        Math.round(bottom - (one * height) / nRows),
      ) as [number, number];
      u.ctx.globalAlpha = strengthOf(share, most);
      u.ctx.fillRect(begin, above, Math.max(1, end - begin), below - above);
    });
  });
  u.ctx.restore();
}
