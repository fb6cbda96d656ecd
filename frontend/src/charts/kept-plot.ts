/**
 * The plot of a chart while its page draws it anew, again and again: new values are shown, and for
 * other lines a new plot is made. What comes while the mouse drags a selection waits for its end: it
 * would move what is under the mouse, and a new plot knows of no selection.
 */
import uPlot from "uplot";

import { rightOf, roomOf, xAxis, yAxis } from "./axes";
import { resolved } from "./colours";
import { drawMarks, drawPlaces, drawWhiskers, type Place } from "./drawing";
import type { Floor } from "./floor";
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
  /** In a saved picture. */
  readonly isDotted?: boolean;
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
  /** Pairs of lines between which each point has a whisker. */
  readonly whiskers?: readonly Edges[];
  readonly height: number;
  readonly isLog: boolean;
  /** What the vertical axis shows at least, unless it is logarithmic; null = the values alone. */
  readonly floor?: Floor | null;
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

const LEAST_WIDTH_PX = 80;

/** What a plot cannot change of itself. */
export const shapeOf = (props: PlotProps): string => {
  const { lines, bands, whiskers, isLog, axis, height, theme } = props;
  return JSON.stringify([lines, bands, whiskers, isLog, axis, height, theme]);
};

export class KeptPlot {
  plot: uPlot | null = null;
  private shape = "";
  private isHeld = false;
  private readonly watcher = new ResizeObserver(() =>
    this.plot?.setSize({ width: this.width, height: this.latest.current.height }),
  );

  constructor(
    private readonly element: HTMLElement,
    /** What the page wants to be shown by now. */
    private readonly latest: { readonly current: PlotProps },
  ) {
    this.watcher.observe(element);
  }

  /** Shows what the page wants, at once or when the selection is made. */
  draw(): void {
    if (this.isHeld) this.tellPlace();
    if (this.isHeld || !this.element.isConnected) return;
    const shape = shapeOf(this.latest.current);
    if (this.plot === null || shape !== this.shape) {
      this.drop();
      this.plot = this.made();
      this.shape = shape;
    }
    show(this.plot, this.latest.current);
  }

  end(): void {
    this.watcher.disconnect();
    this.letGo();
    this.drop();
  }

  private drop(): void {
    if (this.plot === null) return;
    this.plot.destroy();
    this.plot = null;
    this.latest.current.onCursor?.(null);
  }

  private get width(): number {
    return Math.max(LEAST_WIDTH_PX, this.element.clientWidth);
  }

  private made(): uPlot {
    const { latest } = this;
    // Of its own lines, also when the page has others already.
    const { whiskers = [], lines } = latest.current;
    const floor = () => latest.current.floor ?? null;
    const made = options(latest.current, this.width, floor);
    const plot = new uPlot(made, latest.current.data, this.element);
    // A drag ends with a click as well, which is no pick of a point.
    let hasDragged = false;
    plot.hooks["ready"] = [(u: uPlot) => takeOverCursor(u, latest.current.syncKey)];
    plot.hooks["drawAxes"] = [
      (u: uPlot) => {
        latest.current.onUnder?.(u);
        drawPlaces(u, latest.current.places ?? []);
      },
    ];
    plot.hooks["draw"] = [
      (u: uPlot) => {
        latest.current.onFrame?.(frameOf(u));
        for (const edges of whiskers) drawWhiskers(u, edges, lines[edges[0] - 1]?.colour ?? "--s1");
        drawMarks(u, latest.current.marks ?? []);
      },
    ];
    plot.hooks["setSelect"] = [
      (u: uPlot) => {
        const zoom = selected(u);
        // The other charts of the key follow the drag, and are told that it has ended as well.
        if (zoom === null || !this.isHeld) return;
        hasDragged = true;
        latest.current.onZoom(zoom);
      },
    ];
    plot.hooks["setCursor"] = [(u: uPlot) => this.tellPlace(u)];
    // Of the main button alone, as uPlot takes it: a menu opens on another, and no release comes.
    plot.over.addEventListener("mousedown", ({ button }) => {
      if (button !== 0) return;
      hasDragged = false;
      this.isHeld = true;
      document.addEventListener("mouseup", this.onUp);
      window.addEventListener("blur", this.onLost);
    });
    plot.over.addEventListener("contextmenu", this.onLost);
    plot.over.addEventListener("dblclick", () => latest.current.onZoom(null));
    plot.over.addEventListener("click", () => {
      const x = pointedAt(plot);
      if (x !== null && !hasDragged) latest.current.onPick?.(x);
      hasDragged = false;
    });
    return plot;
  }

  /** Where the cursor is in what the page has by now: it may be more than what is drawn. */
  private tellPlace(plot = this.plot): void {
    const { data, onCursor } = this.latest.current;
    const x = plot === null ? null : pointedAt(plot);
    const place = x === null ? -1 : data[0].indexOf(x);
    onCursor?.(place < 0 ? null : place);
  }

  private letGo(): void {
    this.isHeld = false;
    document.removeEventListener("mouseup", this.onUp);
    window.removeEventListener("blur", this.onLost);
  }

  // A menu that opens or another window may get the release of the mouse.
  private readonly onLost = (): void => {
    if (!this.isHeld) return;
    this.letGo();
    this.draw();
  };

  // uPlot listens for the same event since before: it has told of the zoom by now.
  private readonly onUp = ({ button }: MouseEvent): void => {
    if (button !== 0) return;
    this.letGo();
    if (shapeOf(this.latest.current) === this.shape) this.draw();
    // The click that follows is for the plot that is there now.
    else setTimeout(() => this.plot !== null && this.draw());
  };
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
      size: line.isMarked === true ? markPx(line) : 4,
      ...(line.isMarked === true && { fill: () => resolved(line.colour) }),
    },
  };
}

/** Of a line that stands behind others, smaller. */
const markPx = ({ alpha = 1 }: Line): number => (alpha < 1 ? 5 : 7);

/** A lone point has no line to show it. */
function hasFewPoints(u: uPlot, index: number): boolean {
  return (u.data[index]?.length ?? 0) < 3;
}

function options(props: PlotProps, width: number, floor: () => Floor | null): uPlot.Options {
  const isEdge = (index: number) => (props.lines[index - 1]?.width ?? 1) < 1;
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
      y: props.isLog ? { distr: 3 } : { distr: 1, range: roomOf(floor) },
    },
    axes: [xAxis(props.axis), yAxis(props.isLog)],
    series: [{}, ...props.lines.map(series)],
    bands: (props.bands ?? []).map((edges) => ({
      series: [...edges],
      fill: translucent(edges[0], 14 * (props.lines[edges[0] - 1]?.alpha ?? 1)),
    })),
  };
}

const translucent =
  (index: number, percent: number): uPlot.Band.Fill =>
  (u) => {
    const stroke = u.series[index]?.stroke;
    const colour = typeof stroke === "function" ? stroke(u, index) : stroke;
    return `color-mix(in srgb, ${String(colour)} ${percent}%, transparent)`;
  };

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

export function pointedAt(plot: uPlot): number | null {
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
