/** Surfaces of a picture: cells of a heat map, bars; pure. */

export interface Cell {
  /** From and to, in values of the axes. */
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  /** Name of a CSS variable. */
  readonly colour: string;
  /** How much of the colour, from 0 to 1; all of it by default. */
  readonly strength?: number;
  readonly isHollow?: boolean;
  /** Lines of text in its middle. */
  readonly texts?: readonly string[];
}

/** Where values stand on the paper, and what colours and texts are there. */
export interface Paper {
  readonly across: (x: number) => number;
  readonly down: (y: number) => number;
  readonly colour: (variable: string) => string;
  readonly escaped: (text: string) => string;
}

/** Told apart by no eye: cells of one strength are one path. */
const STRENGTHS = 64;
const LINE_PX = 14;
/** What a letter of a picture takes at most, nearly. */
export const CHARACTER_PX = 6.6;

const short = (value: number): string => String(Math.round(100 * value) / 100);

const strengthOf = ({ strength = 1 }: Cell): number => Math.round(STRENGTHS * strength);

export function cellsOf(cells: readonly Cell[], paper: Paper): string {
  const full = cells.filter(({ isHollow }) => isHollow !== true);
  const kinds = new Map<string, Cell[]>();
  for (const cell of full) {
    const kind = `${strengthOf(cell)} ${cell.colour}`;
    const alike = kinds.get(kind);
    if (alike === undefined) kinds.set(kind, [cell]);
    else alike.push(cell);
  }
  return [
    ...[...kinds.values()].map((alike) => pathOf(alike, paper)),
    ...cells.filter(({ isHollow }) => isHollow === true).map((cell) => hollowOf(cell, paper)),
    ...cells.map((cell) => textsOf(cell, paper)),
  ].join("");
}

/** Cells of one colour and strength; each with those after it that continue it as one. */
function pathOf(cells: readonly Cell[], paper: Paper): string {
  const [first] = cells;
  const strength = first === undefined ? 0 : strengthOf(first);
  if (first === undefined || strength === 0) return "";
  const joined: Cell[] = [];
  for (const cell of cells) {
    const last = joined.at(-1);
    const both = last === undefined ? null : together(last, cell);
    if (both === null) joined.push(cell);
    else joined[joined.length - 1] = both;
  }
  const opacity = strength === STRENGTHS ? "" : ` fill-opacity="${short(strength / STRENGTHS)}"`;
  const path = joined.map((cell) => borderOf(cell, paper)).join("");
  // Between smoothed edges of neighbours the paper would shine through.
  const edges = ` shape-rendering="crispEdges"`;
  return `<path d="${path}" fill="${paper.colour(first.colour)}"${opacity}${edges}/>`;
}

/** Two cells of which the second continues the first to the right or upwards; null if it does not. */
function together(one: Cell, next: Cell): Cell | null {
  const isSame = (axis: "x" | "y") =>
    one[axis][0] === next[axis][0] && one[axis][1] === next[axis][1];
  if (isSame("y") && one.x[1] === next.x[0]) return { ...one, x: [one.x[0], next.x[1]] };
  if (isSame("x") && one.y[1] === next.y[0]) return { ...one, y: [one.y[0], next.y[1]] };
  return null;
}

function borderOf({ x, y }: Cell, { across, down }: Paper): string {
  const [left, right] = x.map((one) => short(across(one)));
  const [bottom, top] = y.map((one) => short(down(one)));
  return `M${left} ${bottom}H${right}V${top}H${left}Z`;
}

const hollowOf = (cell: Cell, paper: Paper): string =>
  `<path d="${borderOf(cell, paper)}" fill="${paper.colour("--surface")}" ` +
  `stroke="${paper.colour(cell.colour)}" stroke-width="1.5"/>`;

type Places = Pick<Paper, "across" | "down">;

/** As many of its lines as have room in the cell. */
function linesIn({ x, y, texts = [] }: Cell, { across, down }: Places): readonly string[] {
  const [left = 0, right = 0] = x.map(across);
  const [bottom = 0, top = 0] = y.map(down);
  return texts
    .slice(0, Math.floor((bottom - top) / LINE_PX))
    .filter((text) => CHARACTER_PX * text.length <= right - left);
}

export const hasRoom = (cell: Cell, places: Places): boolean =>
  linesIn(cell, places).length === (cell.texts ?? []).length;

function textsOf(cell: Cell, paper: Paper): string {
  const [left = 0, right = 0] = cell.x.map(paper.across);
  const [bottom = 0, top = 0] = cell.y.map(paper.down);
  const lines = linesIn(cell, paper);
  const middle = short((left + right) / 2);
  return lines
    .map((text, place) => {
      const at = short((bottom + top) / 2 + (place - (lines.length - 1) / 2) * LINE_PX + 4);
      return (
        `<text x="${middle}" y="${at}" text-anchor="middle" fill="${paper.colour("--ink")}">` +
        `${paper.escaped(text)}</text>`
      );
    })
    .join("");
}
