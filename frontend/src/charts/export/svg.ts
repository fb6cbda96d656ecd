/** A chart as a picture of vectors, for papers and slides: titles, axes, cells, lines, bands; pure. */
import type uPlot from "uplot";

import { AXIS_NAMES } from "../axes";
import type { Floor } from "../floor";
import type { Axis, Zoom } from "../live-curves";
import type { Edges, Line } from "../plot";
import { cellsOf, CHARACTER_PX, hasRoom, type Cell } from "./cells";
import { horizontalScale, placeOf, verticalScale, type Scale } from "./scale";

export interface LegendLine {
  readonly label: string;
  readonly colour: string;
  readonly isDashed: boolean;
  readonly isDotted?: boolean;
  /** Of a surface instead of a line: filled, or its border alone. */
  readonly surface?: "filled" | "hollow";
}

/** An axis of its own kind, such as names of groups. */
export interface OwnAxis {
  readonly scale: Scale;
  readonly label: string;
}

export interface Picture {
  readonly title: string;
  /** Whose chart it is. */
  readonly run: string;
  /** The name of the metric and its unit. */
  readonly yLabel: string;
  readonly axis: Axis;
  readonly isLog: boolean;
  /** What the vertical axis shows at least, as on the screen. */
  readonly floor?: Floor | null;
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  readonly bands: readonly Edges[];
  readonly whiskers: readonly Edges[];
  /** Surfaces behind the lines: of a heat map, or bars. */
  readonly cells?: readonly Cell[];
  /** Instead of `axis`, and of a scale around the values. */
  readonly across?: OwnAxis;
  readonly up?: Scale;
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
const DOTS = "2 3";
const LEFT = 84;
/** Names of groups, and the name of the axis beside them. */
const MOST_LEFT = 260;
const NAME_PX = 44;
const RIGHT = WIDTH - 28;
const TOP = 74;
export const PLOT_HEIGHT = HEIGHT - TOP - 58;
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
  /** Where the plot begins. */
  readonly left: number;

  constructor(readonly picture: Picture) {
    const { data, range, axis, isLog, lines } = picture;
    this.xs = Array.from(data[0]);
    const [from, to] = range ?? [this.xs[0] ?? 0, this.xs.at(-1) ?? 1];
    this.x = picture.across?.scale ?? horizontalScale(axis, from, to);
    const isSeen = (place: number) => {
      const x = this.xs[place] ?? NaN;
      return x >= this.x.low && x <= this.x.high;
    };
    const values = lines.flatMap((line, i) =>
      line.isHidden === true ? [] : columnOf(data, i + 1).filter((_, place) => isSeen(place)),
    );
    this.y =
      picture.up ??
      verticalScale(
        values.filter((value) => value != null),
        isLog,
        picture.floor ?? null,
      );
    const longest = Math.max(0, ...this.y.ticks.map(({ text }) => text.length));
    this.left = Math.min(MOST_LEFT, Math.max(LEFT, NAME_PX + CHARACTER_PX * longest));
  }

  readonly across = (x: number) => this.left + (RIGHT - this.left) * placeOf(this.x, x);
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

const dashesOf = ({ isDashed, isDotted }: Pick<Line, "isDashed" | "isDotted">): string => {
  const dashes = isDashed === true ? DASHES : isDotted === true ? DOTS : "";
  return dashes === "" ? "" : ` stroke-dasharray="${dashes}"`;
};

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

/** A text that is longer than its room, without its end. */
const fitting = (text: string, px: number): string => {
  const most = Math.floor(px / CHARACTER_PX);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
};

function axesOf({ x, y, left, across, down, picture: { colour } }: Drawing): string {
  const [ink, grid] = [escaped(colour("--ink-2")), escaped(colour("--line"))];
  const rows = y.ticks.map(({ at, text }) => {
    const place = short(down(at));
    const line = `<line x1="${short(left)}" x2="${RIGHT}" y1="${place}" y2="${place}" stroke="${grid}"/>`;
    return (
      (y.isNames === true ? "" : line) +
      `<text x="${short(left - 8)}" y="${place}" dy="4" text-anchor="end" fill="${ink}">` +
      `${escaped(fitting(text, left - NAME_PX + CHARACTER_PX))}</text>`
    );
  });
  const room = x.isNames === true ? (RIGHT - left) / x.ticks.length : Infinity;
  const columns = x.ticks.map(
    ({ at, text }) =>
      `<text x="${short(across(at))}" y="${BOTTOM + 20}" text-anchor="middle" fill="${ink}">` +
      `${escaped(fitting(text, room))}</text>`,
  );
  return [...rows, ...columns].join("");
}

function labelsOf({ left, picture }: Drawing): string {
  const { title, run, yLabel, axis, across, colour } = picture;
  const [ink, quiet] = [escaped(colour("--ink")), escaped(colour("--ink-2"))];
  const middle = TOP + PLOT_HEIGHT / 2;
  return (
    `<text x="24" y="32" font-size="18" font-weight="600" fill="${ink}">${escaped(title)}</text>` +
    `<text x="24" y="52" font-size="13" fill="${quiet}">${escaped(run)}</text>` +
    `<text x="${short((left + RIGHT) / 2)}" y="${HEIGHT - 14}" text-anchor="middle" fill="${quiet}">` +
    `${escaped(across?.label ?? AXIS_NAMES[axis])}</text>` +
    `<text transform="translate(22 ${middle}) rotate(-90)" text-anchor="middle" fill="${quiet}">` +
    `${escaped(yLabel)}</text>`
  );
}

/** The sign of a line of the legend: a piece of the line, or of the surface. */
function signOf(one: LegendLine, y: number, colour: Picture["colour"]): string {
  const stroke = escaped(colour(one.colour));
  if (one.surface === undefined)
    return (
      `<line x1="${LEFT}" x2="${LEFT + 24}" y1="${y}" y2="${y}" stroke-width="2" ` +
      `stroke="${stroke}"${dashesOf(one)}/>`
    );
  const fill = one.surface === "hollow" ? escaped(colour("--surface")) : stroke;
  return (
    `<rect x="${LEFT + 6}" y="${y - 6}" width="12" height="12" fill="${fill}" ` +
    `stroke="${stroke}" stroke-width="1.5"/>`
  );
}

function legendOf({ legend, colour }: Picture): string {
  const ink = escaped(colour("--ink-2"));
  const rows = (legend ?? []).map((one, i) => {
    const y = HEIGHT + LEGEND_LINE * i;
    const text = `<text x="${LEFT + 32}" y="${y}" dy="4" fill="${ink}">${escaped(one.label)}</text>`;
    return signOf(one, y, colour) + text;
  });
  return rows.join("");
}

/** Whether no text of a cell is left out. */
export function hasAllTexts(picture: Omit<Picture, "colour">): boolean {
  const drawing = new Drawing({ ...picture, colour: (variable) => variable });
  return (picture.cells ?? []).every((cell) => hasRoom(cell, drawing));
}

export function svgOf(picture: Picture): string {
  const drawing = new Drawing(picture);
  const { bands, whiskers, lines, colour } = picture;
  const height = heightOf(picture);
  const { across, down, left } = drawing;
  const drawn = [
    cellsOf(picture.cells ?? [], { across, down, colour: (one) => escaped(colour(one)), escaped }),
    ...bands.map((band) => bandOf(drawing, band)),
    ...lines.map((line, i) => lineOf(drawing, line, i + 1)),
    ...whiskers.map((edges) => whiskersOf(drawing, edges)),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="${TEXT}" font-size="12" role="img">` +
    `<title>${escaped(`${picture.title}, ${picture.run}`)}</title>` +
    `<rect width="${WIDTH}" height="${height}" fill="${escaped(colour("--surface"))}"/>` +
    `<clipPath id="plot"><rect x="${short(left - CAP - 1)}" y="${TOP}" ` +
    `width="${short(RIGHT - left + 2 * CAP + 2)}" ` +
    `height="${PLOT_HEIGHT}"/></clipPath>` +
    axesOf(drawing) +
    `<g clip-path="url(#plot)">${drawn.join("")}</g>` +
    labelsOf(drawing) +
    legendOf(picture) +
    "</svg>\n"
  );
}
