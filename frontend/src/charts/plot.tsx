/**
 * The one wrapper around uPlot: columns in, canvas out.
 *
 * New data never moves the reader's zoom; the zoom itself belongs to the caller (it stands in the
 * URL), so that all charts of a page zoom together. The cursor of one is the cursor of all with the
 * same key; a chart with the focus moves it by arrow keys.
 */
import "uplot/dist/uPlot.min.css";
import "./plot.css";

import { useEffect, useRef, type KeyboardEvent } from "react";
import uPlot from "uplot";

import { rightOf, roomOf, xAxis, yAxis } from "./axes";
import { resolved } from "./colours";
import { drawMarks, drawPlaces, drawWhiskers, type Place } from "./drawing";
import type { Axis, Zoom } from "./live-curves";
import type { Frame } from "./markers/folding";

export interface Line {
  readonly label: string;
  /** Name of a CSS variable, so that the line follows the theme. */
  readonly colour: string;
  readonly width?: number;
  readonly alpha?: number;
  readonly isHidden?: boolean;
  readonly isDashed?: boolean;
  /** Whether each point has a marker. */
  readonly isMarked?: boolean;
}

/** Numbers of two lines: the upper and the lower one. */
export type Edges = readonly [number, number];

export interface PlotProps {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of lines that enclose a shaded band. */
  readonly bands?: readonly Edges[];
  /** Lines between which each point has a whisker. */
  readonly whiskers?: Edges | null;
  readonly height: number;
  readonly isLog: boolean;
  readonly axis: Axis;
  /** Where to mark that a value is missing. */
  readonly marks?: readonly number[];
  /** Where something happened: a line behind the data. */
  readonly places?: readonly Place[];
  /** Draws what lies behind the lines. */
  readonly onUnder?: (plot: uPlot) => void;
  readonly syncKey: string;
  /** Least and greatest x that are shown; null = those of the data. */
  readonly range: Zoom;
  readonly theme: string;
  readonly label: string;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: ((x: number) => void) | undefined;
  /** Which point is nearest to the cursor of any chart; null = there is no cursor. */
  readonly onCursor?: (place: number | null) => void;
  /** Called when the part that is shown, or its place on the screen, has changed. */
  readonly onFrame?: (frame: Frame) => void;
}

function series(line: Line): uPlot.Series {
  return {
    label: line.label,
    stroke: () => resolved(line.colour),
    width: line.width ?? 1.6,
    alpha: line.alpha ?? 1,
    show: line.isHidden !== true,
    spanGaps: false,
    ...(line.isDashed === true && { dash: [6, 4] }),
    points: {
      show: (u, index) => line.isMarked === true || hasFewPoints(u, index),
      size: line.isMarked === true ? 7 : 4,
      ...(line.isMarked === true && { fill: () => resolved(line.colour) }),
    },
  };
}

/** A lone point has no line to show it. */
function hasFewPoints(u: uPlot, index: number): boolean {
  return (u.data[index]?.length ?? 0) < 3;
}

function options(props: PlotProps, width: number): uPlot.Options {
  const isEdge = (index: number) => props.lines[index - 1]?.width === 0;
  return {
    width,
    height: props.height,
    padding: [10, rightOf, 0, 0],
    legend: { show: false },
    cursor: {
      // By the value of x, wherever on the screen it is in another chart.
      sync: { key: props.syncKey, setSeries: false, scales: ["x", null] },
      drag: { x: true, y: false, setScale: false },
      points: { size: (_, index) => (isEdge(index) ? 0 : 7) },
    },
    scales: {
      x: { time: props.axis === "time" },
      y: props.isLog ? { distr: 3 } : { distr: 1, range: roomOf },
    },
    axes: [xAxis(props.axis), yAxis(props.isLog)],
    series: [{}, ...props.lines.map(series)],
    bands: (props.bands ?? []).map((edges) => ({
      series: [...edges],
      fill: translucent(edges[0]),
    })),
  };
}

const translucent =
  (index: number): uPlot.Band.Fill =>
  (u) => {
    const stroke = u.series[index]?.stroke;
    const colour = typeof stroke === "function" ? stroke(u, index) : stroke;
    return `color-mix(in srgb, ${String(colour)} 14%, transparent)`;
  };

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  /** Whether the mouse drags a selection here: new points wait, for they move what is under it. */
  const isHeld = useRef(false);
  useEffect(() => {
    latest.current = props;
  });
  const { lines, bands, whiskers, isLog, axis, height, theme } = props;
  const shape = JSON.stringify([lines, bands, whiskers, isLog, axis, height, theme]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new uPlot(
      options(latest.current, Math.max(80, element.clientWidth)),
      latest.current.data,
      element,
    );
    plot.current = made;
    // A drag ends with a click as well, which is no pick of a point.
    let hasDragged = false;
    // Of the main button alone, as uPlot takes it: a menu opens on another, and no release comes.
    const onDown = ({ button }: MouseEvent) => {
      if (button !== 0) return;
      hasDragged = false;
      isHeld.current = true;
      document.addEventListener("mouseup", onUp);
    };
    // uPlot listens for the same event since before: it has told of the zoom by now.
    const onUp = ({ button }: MouseEvent) => {
      if (button !== 0) return;
      document.removeEventListener("mouseup", onUp);
      isHeld.current = false;
      show(made, latest.current);
    };
    made.hooks["ready"] = [(u: uPlot) => takeOverCursor(u, latest.current.syncKey)];
    made.hooks["drawAxes"] = [
      (u: uPlot) => {
        latest.current.onUnder?.(u);
        drawPlaces(u, latest.current.places ?? []);
      },
    ];
    made.hooks["draw"] = [
      (u: uPlot) => {
        latest.current.onFrame?.(frameOf(u));
        const { whiskers: edges, lines: drawn, marks } = latest.current;
        if (edges != null) drawWhiskers(u, edges, drawn[0]?.colour ?? "--s1");
        drawMarks(u, marks ?? []);
      },
    ];
    made.hooks["setSelect"] = [
      (u: uPlot) => {
        const zoom = selected(u);
        // The other charts of the key follow the drag, and are told that it has ended as well.
        if (zoom === null || !isHeld.current) return;
        hasDragged = true;
        latest.current.onZoom(zoom);
      },
    ];
    made.hooks["setCursor"] = [(u: uPlot) => latest.current.onCursor?.(u.cursor.idx ?? null)];
    const onDoubleClick = () => latest.current.onZoom(null);
    const onClick = () => {
      const x = pointedAt(made);
      if (x !== null && !hasDragged) latest.current.onPick?.(x);
      hasDragged = false;
    };
    made.over.addEventListener("mousedown", onDown);
    made.over.addEventListener("dblclick", onDoubleClick);
    made.over.addEventListener("click", onClick);
    const watcher = new ResizeObserver(() =>
      made.setSize({ width: Math.max(80, element.clientWidth), height: latest.current.height }),
    );
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      document.removeEventListener("mouseup", onUp);
      isHeld.current = false;
      made.destroy();
      plot.current = null;
      latest.current.onCursor?.(null);
    };
  }, [shape]);

  const [from, to] = props.range ?? [null, null];
  useEffect(() => {
    if (plot.current !== null && !isHeld.current) show(plot.current, latest.current);
  }, [props.data, from, to, shape]);

  // With its axes: a chart that was made just now has none yet, and an empty one never gets any.
  useEffect(() => plot.current?.redraw(false, true), [props.places]);

  const onKeyDown = (event: KeyboardEvent) => {
    const made = plot.current;
    if (made === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") {
      const x = pointedAt(made);
      if (x !== null) props.onPick?.(x);
    } else if (event.key === "Escape" && made.cursor.idx != null) hideCursor(made);
    else if (!stepped(made, event.key, event.shiftKey)) return;
    event.preventDefault();
  };
  return (
    <div
      className="plot"
      ref={box}
      role="img"
      aria-label={props.label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={() => plot.current !== null && hideCursor(plot.current)}
    />
  );
}

function show(plot: uPlot, { data, range }: PlotProps): void {
  const [from, to] = range ?? [null, null];
  const isOpen = from === null || to === null || !(to > from);
  plot.setData(data, isOpen);
  if (!isOpen) plot.setScale("x", { min: from, max: to });
}

function frameOf(u: uPlot): Frame {
  const { min, max } = u.scales["x"] ?? {};
  return {
    left: u.bbox.left / devicePixelRatio,
    width: u.bbox.width / devicePixelRatio,
    min: min ?? 0,
    max: max ?? 0,
  };
}

/** A chart that comes into sight has the cursor where the others of its key have it. */
function takeOverCursor(plot: uPlot, syncKey: string): void {
  const other = uPlot
    .sync(syncKey)
    .plots.find((one) => one !== plot && (one.cursor.left ?? -1) >= 0 && one.cursor.idx != null);
  if (other === undefined) return;
  const left = plot.valToPos(other.posToVal(other.cursor.left ?? 0, "x"), "x");
  if (left >= 0 && left <= plot.over.clientWidth) plot.setCursor({ left, top: 0 }, true);
}

/** uPlot's own types leave out the last argument: whether the other charts are told. */
type SetCursor = (at: { left: number; top: number }, isFired: boolean, isTold: boolean) => void;

function setCursor(plot: uPlot, left: number, top: number): void {
  (plot.setCursor as SetCursor)({ left, top }, true, true);
}

const hideCursor = (plot: uPlot) => setCursor(plot, -10, -10);

const MANY = 10;

/** Whether a key has moved the cursor from point to point of what is shown. */
function stepped(plot: uPlot, key: string, isFar: boolean): boolean {
  const xs = Array.from(plot.data[0]);
  const { min, max } = plot.scales["x"] ?? {};
  const first = xs.findIndex((x) => x >= (min ?? -Infinity));
  const last = xs.findLastIndex((x) => x <= (max ?? Infinity));
  if (first < 0 || last < first) return false;
  const far = isFar ? MANY : 1;
  const now = plot.cursor.idx ?? null;
  const wanted: Readonly<Record<string, number>> = {
    ArrowLeft: now === null ? last : now - far,
    ArrowRight: now === null ? first : now + far,
    Home: first,
    End: last,
  };
  const next = wanted[key];
  if (next === undefined) return false;
  const x = xs[Math.min(last, Math.max(first, next))];
  if (x !== undefined) setCursor(plot, plot.valToPos(x, "x"), plot.over.clientHeight / 2);
  return true;
}

function pointedAt(plot: uPlot): number | null {
  const index = plot.cursor.idx;
  return index === null || index === undefined ? null : (plot.data[0][index] ?? null);
}

function selected(plot: uPlot): Zoom {
  const { left, width } = plot.select;
  if (width < 4) return null;
  const zoom: Zoom = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  return zoom;
}
