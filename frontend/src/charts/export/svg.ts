/** A chart as a picture of vectors, for papers and slides: titles, axes, lines, bands; pure. */
import type uPlot from "uplot";

import { AXIS_NAMES } from "../axes";
import type { Axis, Zoom } from "../live-curves";
import type { Edges, Line } from "../plot";
import { horizontalScale, placeOf, verticalScale, type Scale } from "./scale";

export interface LegendLine {
  readonly label: string;
  readonly colour: string;
  readonly isDashed: boolean;
}

export interface Picture {
  readonly title: string;
  /** Whose chart it is. */
  readonly run: string;
  /** The name of the metric and its unit. */
  readonly yLabel: string;
  readonly axis: Axis;
  readonly isLog: boolean;
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  readonly bands: readonly Edges[];
  readonly whiskers: readonly Edges[];
  readonly range: Zoom;
  /** What each colour stands for, a line each below the chart; absent where there is one curve. */
  readonly legend?: readonly LegendLine[];
  /** What a CSS variable is. */
  readonly colour: (variable: string) => string;
}

export const WIDTH = 840;
const HEIGHT = 460;
const LEGEND_LINE = 20;
const DASHES = "6 4";
const LEFT = 84;
const TOP = 74;
const PLOT_WIDTH = WIDTH - LEFT - 28;
const PLOT_HEIGHT = HEIGHT - TOP - 58;
const BOTTOM = TOP + PLOT_HEIGHT;
const TEXT = "Inter, 'Helvetica Neue', Arial, sans-serif";
const CAP = 3;

/** With room for its legend. */
export const heightOf = ({ legend }: Picture): number =>
  HEIGHT + LEGEND_LINE * (legend?.length ?? 0);

/** `undefined` is no gap: the line goes on to the next value of its own. */
type Column = readonly (number | null | undefined)[];
type Point = readonly [number, number];

/** Characters that XML forbids even as references; they would make the file unreadable. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string): string =>
  text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (one) => ESCAPES[one] ?? one);

const short = (value: number): string => String(Math.round(100 * value) / 100);

function columnOf(data: uPlot.AlignedData, index: number): Column {
  return Array.from(data[index] ?? []);
}

/** What is drawn of some columns, and where. */
class Drawing {
  readonly xs: readonly number[];
  readonly x: Scale;
  readonly y: Scale;

  constructor(readonly picture: Picture) {
    const { data, range, axis, isLog, lines } = picture;
    this.xs = Array.from(data[0]);
    const [from, to] = range ?? [this.xs[0] ?? 0, this.xs.at(-1) ?? 1];
    this.x = horizontalScale(axis, from, to);
    const isSeen = (place: number) => {
      const x = this.xs[place] ?? NaN;
      return x >= this.x.low && x <= this.x.high;
    };
    const values = lines.flatMap((line, i) =>
      line.isHidden === true ? [] : columnOf(data, i + 1).filter((_, place) => isSeen(place)),
    );
    this.y = verticalScale(
      values.filter((value) => value != null),
      isLog,
    );
  }

  readonly across = (x: number) => LEFT + PLOT_WIDTH * placeOf(this.x, x);
  readonly down = (y: number) => BOTTOM - PLOT_HEIGHT * placeOf(this.y, y);

  /** Places of a column, apart where a value is missing. */
  pieces(column: Column): Point[][] {
    const found: Point[][] = [[]];
    for (const [place, x] of this.xs.entries()) {
      const value = column[place];
      if (value === null) found.push([]);
      else if (value !== undefined) found.at(-1)?.push([this.across(x), this.down(value)]);
    }
    return found.filter((piece) => piece.length > 0);
  }
}

const pathOf = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${short(x)} ${short(y)}`).join("");

const dashesOf = ({ isDashed }: { readonly isDashed?: boolean }): string =>
  isDashed === true ? ` stroke-dasharray="${DASHES}"` : "";

function lineOf(drawing: Drawing, line: Line, index: number): string {
  if (line.isHidden === true || line.width === 0) return "";
  const { data, colour } = drawing.picture;
  const pieces = drawing.pieces(columnOf(data, index));
  const [stroke, alpha] = [escaped(colour(line.colour)), line.alpha ?? 1];
  const isMarked = line.isMarked === true;
  const path = pieces.filter((piece) => piece.length > 1).map(pathOf);
  const dots = pieces.filter((piece) => isMarked || piece.length === 1).flat();
  return (
    `<path d="${path.join("")}" fill="none" stroke="${stroke}" stroke-opacity="${alpha}" ` +
    `stroke-width="${line.width ?? 1.6}" stroke-linejoin="round"${dashesOf(line)}/>` +
    dots
      .map(([x, y]) => `<circle cx="${short(x)}" cy="${short(y)}" r="3" fill="${stroke}"/>`)
      .join("")
  );
}

function bandOf(drawing: Drawing, [high, low]: Edges): string {
  const { data, lines, colour } = drawing.picture;
  const [upper, lower] = [columnOf(data, high), columnOf(data, low)];
  const both = (column: Column) =>
    column.map((value, i) => (upper[i] === null || lower[i] === null ? null : value));
  const [tops, bottoms] = [drawing.pieces(both(upper)), drawing.pieces(both(lower))];
  const fill = escaped(colour(lines[high - 1]?.colour ?? "--s1"));
  return tops
    .map((top, i) => pathOf([...top, ...(bottoms[i] ?? []).toReversed()]) + "Z")
    .map((path) => `<path d="${path}" fill="${fill}" fill-opacity="0.14"/>`)
    .join("");
}

function whiskersOf(drawing: Drawing, [high, low]: Edges): string {
  const { data, lines, colour } = drawing.picture;
  const [upper, lower] = [columnOf(data, high), columnOf(data, low)];
  const parts = drawing.xs.map((at, place) => {
    const [up, down] = [upper[place] ?? null, lower[place] ?? null];
    if (up === null || down === null) return "";
    const [x, top, bottom] = [drawing.across(at), drawing.down(up), drawing.down(down)];
    const caps = [top, bottom].map((y) => pathOf([[x - CAP, y] as const, [x + CAP, y]]));
    return pathOf([[x, top] as const, [x, bottom]]) + caps.join("");
  });
  const stroke = escaped(colour(lines[high - 1]?.colour ?? "--s1"));
  return `<path d="${parts.join("")}" fill="none" stroke="${stroke}" stroke-width="1.2"/>`;
}

function axesOf({ x, y, across, down, picture: { colour } }: Drawing): string {
  const [ink, grid] = [escaped(colour("--ink-2")), escaped(colour("--line"))];
  const rows = y.ticks.map(({ at, text }) => {
    const place = short(down(at));
    return (
      `<line x1="${LEFT}" x2="${LEFT + PLOT_WIDTH}" y1="${place}" y2="${place}" stroke="${grid}"/>` +
      `<text x="${LEFT - 8}" y="${place}" dy="4" text-anchor="end" fill="${ink}">${escaped(text)}</text>`
    );
  });
  const columns = x.ticks.map(
    ({ at, text }) =>
      `<text x="${short(across(at))}" y="${BOTTOM + 20}" text-anchor="middle" fill="${ink}">` +
      `${escaped(text)}</text>`,
  );
  return [...rows, ...columns].join("");
}

function labelsOf({ title, run, yLabel, axis, colour }: Picture): string {
  const [ink, quiet] = [escaped(colour("--ink")), escaped(colour("--ink-2"))];
  const middle = TOP + PLOT_HEIGHT / 2;
  return (
    `<text x="24" y="32" font-size="18" font-weight="600" fill="${ink}">${escaped(title)}</text>` +
    `<text x="24" y="52" font-size="13" fill="${quiet}">${escaped(run)}</text>` +
    `<text x="${LEFT + PLOT_WIDTH / 2}" y="${HEIGHT - 14}" text-anchor="middle" fill="${quiet}">` +
    `${AXIS_NAMES[axis]}</text>` +
    `<text transform="translate(22 ${middle}) rotate(-90)" text-anchor="middle" fill="${quiet}">` +
    `${escaped(yLabel)}</text>`
  );
}

function legendOf({ legend, colour }: Picture): string {
  const ink = escaped(colour("--ink-2"));
  const rows = (legend ?? []).map((one, i) => {
    const y = HEIGHT + LEGEND_LINE * i;
    return (
      `<line x1="${LEFT}" x2="${LEFT + 24}" y1="${y}" y2="${y}" stroke-width="2" ` +
      `stroke="${escaped(colour(one.colour))}"${dashesOf(one)}/>` +
      `<text x="${LEFT + 32}" y="${y}" dy="4" fill="${ink}">${escaped(one.label)}</text>`
    );
  });
  return rows.join("");
}

export function svgOf(picture: Picture): string {
  const drawing = new Drawing(picture);
  const { bands, whiskers, lines, colour } = picture;
  const height = heightOf(picture);
  const drawn = [
    ...bands.map((band) => bandOf(drawing, band)),
    ...lines.map((line, i) => lineOf(drawing, line, i + 1)),
    ...whiskers.map((edges) => whiskersOf(drawing, edges)),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="${TEXT}" font-size="12" role="img">` +
    `<title>${escaped(`${picture.title}, ${picture.run}`)}</title>` +
    `<rect width="${WIDTH}" height="${height}" fill="${escaped(colour("--surface"))}"/>` +
    `<clipPath id="plot"><rect x="${LEFT - CAP - 1}" y="${TOP}" width="${PLOT_WIDTH + 2 * CAP + 2}" ` +
    `height="${PLOT_HEIGHT}"/></clipPath>` +
    axesOf(drawing) +
    `<g clip-path="url(#plot)">${drawn.join("")}</g>` +
    labelsOf(picture) +
    legendOf(picture) +
    "</svg>\n"
  );
}
