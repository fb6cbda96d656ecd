/**
 * The one wrapper around uPlot: columns in, canvas out.
 *
 * New data never moves the reader's zoom; the zoom itself belongs to the caller (it stands in the
 * URL), so that all charts of a page zoom together.
 */
import "uplot/dist/uPlot.min.css";
import "./plot.css";

import { useEffect, useRef } from "react";
import uPlot from "uplot";

import { number } from "@/lib/format";

import { resolved } from "./colours";
import type { Axis, Zoom } from "./live-curves";

export interface Line {
  readonly label: string;
  /** Name of a CSS variable, so that the line follows the theme. */
  readonly colour: string;
  readonly width?: number;
  readonly alpha?: number;
  readonly isHidden?: boolean;
}

export interface PlotProps {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of line numbers (upper, lower) that enclose a shaded band. */
  readonly bands?: readonly (readonly [number, number])[];
  readonly height: number;
  readonly isLog: boolean;
  readonly axis: Axis;
  /** Where to mark that a value is missing. */
  readonly marks?: readonly number[];
  readonly syncKey: string;
  readonly zoom: Zoom;
  readonly theme: string;
  readonly label: string;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: ((x: number) => void) | undefined;
}

const MONO = '11px "JetBrains Mono Variable", ui-monospace, monospace';

/** Two lines of text: the time, and below it the day. */
const TIME_AXIS_PX = 42;

function shared(isY: boolean): uPlot.Axis {
  return {
    stroke: () => resolved("--ink-3"),
    grid: { stroke: () => resolved("--line"), width: 1, show: isY },
    ticks: { show: false },
    font: MONO,
    gap: 6,
  };
}

function yAxis(isLog: boolean): uPlot.Axis {
  return { ...shared(true), size: roomFor, values: isLog ? logTexts : tickTexts };
}

function xAxis(axis: Axis): uPlot.Axis {
  if (axis === "time") return { ...shared(false), size: TIME_AXIS_PX };
  if (axis === "relative")
    return { ...shared(false), size: 26, incrs: SPANS_S, values: durationTexts };
  return { ...shared(false), size: 26, values: tickTexts };
}

const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 86_400];
/** Seconds from tick to tick. */
const SPANS_S = [
  ...[0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_S),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_S),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY_S),
];

/** Ticks of an axis of seconds, in the largest unit that all of them are whole in. */
function durationTexts(
  _: uPlot,
  ticks: readonly (number | null)[],
  _axis: number,
  _space: number,
  step: number,
): string[] {
  const units = [
    [DAY_S, "d"],
    [HOUR_S, "h"],
    [MINUTE_S, "min"],
  ] as const;
  const [seconds, unit] = units.find(([size]) => step >= size) ?? [1, "s"];
  return ticks.map((tick) => (tick === null ? "" : `${number(tick / seconds)} ${unit}`));
}

const LEAST_AXIS_PX = 52;
const CHARACTER_PX = 6.7;

/** As wide as the longest text beside it; most are short, so that charts of a page line up. */
function roomFor(_: uPlot, texts: readonly string[] | null): number {
  const longest = Math.max(0, ...(texts ?? []).map((text) => text.length));
  return Math.max(LEAST_AXIS_PX, Math.ceil(longest * CHARACTER_PX) + 12);
}

/** On a log scale every tick has its own size; some are hidden (null) to make room. */
function logTexts(_: uPlot, ticks: readonly (number | null)[]): string[] {
  return ticks.map((tick) => (tick === null ? "" : number(Number(tick.toPrecision(3)))));
}

/** All ticks of an axis with the same number of decimals. */
function tickTexts(
  _: uPlot,
  ticks: readonly (number | null)[],
  _axis: number,
  _space: number,
  step: number,
): string[] {
  const decimals = decimalsOf(step);
  return ticks.map((tick) => (tick === null ? "" : shortened(tick, decimals)));
}

const MOST_DECIMALS = 6;

/** The fewest decimals that tell one tick from the next: 1 for 0.5, 2 for 0.25. */
function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals += 1) {
    const scaled = step * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 && scaled >= 1 - 1e-6) return decimals;
  }
  return MOST_DECIMALS;
}

function shortened(tick: number, decimals: number): string {
  const size = Math.abs(tick);
  if (size >= 1e6) return `${number(tick / 1e6)}M`;
  if (size >= 1e4) return `${number(tick / 1e3)}k`;
  const text = decimals > 5 ? number(tick) : tick.toFixed(decimals);
  return text.replace("-", "−");
}

function series(line: Line): uPlot.Series {
  return {
    label: line.label,
    stroke: () => resolved(line.colour),
    width: line.width ?? 1.6,
    alpha: line.alpha ?? 1,
    show: line.isHidden !== true,
    spanGaps: false,
    points: { show: (u, index) => hasFewPoints(u, index), size: 4 },
  };
}

/** A lone point has no line to show it. */
function hasFewPoints(u: uPlot, index: number): boolean {
  return (u.data[index]?.length ?? 0) < 3;
}

function options(props: PlotProps, width: number): uPlot.Options {
  return {
    width,
    height: props.height,
    padding: [10, 14, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: props.syncKey, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: {
      x: { time: props.axis === "time" },
      y: { distr: props.isLog ? 3 : 1 },
    },
    axes: [xAxis(props.axis), yAxis(props.isLog)],
    series: [{}, ...props.lines.map(series)],
    bands: (props.bands ?? []).map(([upper, lower]) => ({
      series: [upper, lower],
      fill: (u) => translucent(u, upper),
    })),
  };
}

function translucent(u: uPlot, index: number): string {
  const stroke = u.series[index]?.stroke;
  const colour = typeof stroke === "function" ? stroke(u, index) : stroke;
  return `color-mix(in srgb, ${String(colour)} 14%, transparent)`;
}

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const shape = JSON.stringify([props.lines, props.isLog, props.axis, props.height, props.theme]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new uPlot(
      options(latest.current, Math.max(80, element.clientWidth)),
      latest.current.data,
      element,
    );
    plot.current = made;
    applyZoom(made, latest.current.zoom);
    // A drag ends with a click as well, which is no pick of a point.
    let hasDragged = false;
    made.hooks["draw"] = [(u: uPlot) => drawMarks(u, latest.current.marks ?? [])];
    made.hooks["setSelect"] = [
      (u: uPlot) => {
        const zoom = selected(u);
        hasDragged = zoom !== null;
        if (zoom !== null) latest.current.onZoom(zoom);
      },
    ];
    const onDoubleClick = () => latest.current.onZoom(null);
    const onClick = () => {
      const index = made.cursor.idx;
      const x = index === null || index === undefined ? undefined : made.data[0][index];
      if (x !== undefined && !hasDragged) latest.current.onPick?.(x);
      hasDragged = false;
    };
    made.over.addEventListener("dblclick", onDoubleClick);
    made.over.addEventListener("click", onClick);
    const watcher = new ResizeObserver(() =>
      made.setSize({ width: Math.max(80, element.clientWidth), height: latest.current.height }),
    );
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    const made = plot.current;
    if (made === null) return;
    made.setData(props.data, props.zoom === null);
    if (props.zoom !== null) applyZoom(made, props.zoom);
  }, [props.data, props.zoom, shape]);

  return <div className="plot" ref={box} role="img" aria-label={props.label} />;
}

const MARK_PX = 7;

/** A wedge on the axis at each x: seen however many points share its pixel. */
function drawMarks(u: uPlot, marks: readonly number[]): void {
  const { left, top, width, height } = u.bbox;
  const size = MARK_PX * devicePixelRatio;
  u.ctx.save();
  u.ctx.fillStyle = resolved("--bad");
  for (const mark of marks) {
    const x = u.valToPos(mark, "x", true);
    if (x < left || x > left + width) continue;
    u.ctx.beginPath();
    u.ctx.moveTo(x, top + height - size);
    u.ctx.lineTo(x - size / 2, top + height);
    u.ctx.lineTo(x + size / 2, top + height);
    u.ctx.fill();
  }
  u.ctx.restore();
}

function applyZoom(plot: uPlot, zoom: Zoom): void {
  if (zoom !== null) plot.setScale("x", { min: zoom[0], max: zoom[1] });
}

function selected(plot: uPlot): Zoom {
  const { left, width } = plot.select;
  if (width < 4) return null;
  const zoom: Zoom = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  return zoom;
}
