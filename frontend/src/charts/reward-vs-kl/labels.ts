/**
 * Where the labels of paths stand: near their ends, in the picture, over no point and no other label. One
 * that finds no such place is left out: a legend names its path.
 */
import { CHARACTER_PX } from "../ticks";

/** A label that wants to begin or end at `x`, with its line of text at `y`; pixels. */
export interface Wanted {
  readonly text: string;
  /** What is said instead where there is no place for the text. */
  readonly short?: string | undefined;
  readonly x: number;
  readonly y: number;
}

export type Placed<Label> = Label & { readonly anchor: "start" | "end" };

/** Pixels. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** What the letters of the picture take from this code point on; pixels. */
const WIDTHS = [
  ["\u{1f000}", 15], // Emoji.
  ["\u2e80", 11], // Chinese and the like are squares.
  ["", CHARACTER_PX],
] as const;
const LINE = 14;
/** From the line of a text to the ends of its letters above and below. */
const ABOVE = 10;
const BELOW = 3;

/** A label takes at most so much of the width: the paths are what the picture is about. */
const MOST = 0.6;
/** Further away nobody would see what it is a label of. */
const FARTHEST_LINES = 3;
/** From where a path ends to a label beside it: past the mark of its last point, with some air. */
const PAST_MARK = 10;
/** Numbers of pixels are not exact. */
const NEARLY = 0.01;

export const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (WIDTHS.find(([from]) => letter >= from)?.[1] ?? 0), 0);

/** A text without its middle where it is too wide: runs of a sweep differ at their ends. */
export function fitting(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const begin = [...text];
  const end = begin.splice(Math.ceil(begin.length / 2));
  const shown = () => `${begin.join("").trimEnd()}…${end.join("").trimStart()}`;
  while (begin.length + end.length > 1 && widthOf(shown()) > width)
    if (begin.length > end.length) begin.pop();
    else end.shift();
  return shown();
}

export function boxOf({ text, x, y, anchor }: Placed<Wanted>): Box {
  const width = widthOf(text);
  const left = anchor === "end" ? x - width : x;
  return { left, right: left + width, top: y - ABOVE, bottom: y + BELOW };
}

/** Beside one another, two labels would read as one without a letter between them. */
const withGap = ({ left, right, top, bottom }: Box): Box => ({
  ...{ left: left - CHARACTER_PX, right: right + CHARACTER_PX },
  ...{ top: top - 0.5, bottom: bottom + 0.5 },
});

const isOver = (one: Box, other: Box): boolean =>
  one.left < other.right &&
  other.left < one.right &&
  one.top < other.bottom &&
  other.top < one.bottom;

const isIn = (box: Box, room: Box): boolean =>
  box.left > room.left - NEARLY &&
  box.right < room.right + NEARLY &&
  box.top > room.top - NEARLY &&
  box.bottom < room.bottom + NEARLY;

/** Up to where its path ends, from there on as far as there is room, and past both sides of its mark. */
function beside<Label extends Wanted>(label: Label, { left, right }: Box): Placed<Label>[] {
  const text = fitting(label.text, MOST * (right - left));
  const { x } = label;
  return [
    { ...label, text, anchor: "end" },
    { ...label, text, x: Math.min(x, right - widthOf(text)), anchor: "start" },
    { ...label, text, x: x - PAST_MARK, anchor: "end" },
    { ...label, text, x: x + PAST_MARK, anchor: "start" },
  ];
}

/** The wanted line, then one and more lines below and above it, in turn. */
const lines = (y: number): number[] =>
  Array.from(
    { length: 2 * FARTHEST_LINES + 1 },
    (_, i) => y + Math.ceil(i / 2) * LINE * (i % 2 ? 1 : -1),
  );

/** All places that may do for a label, the best first. */
function placesOf<Label extends Wanted>(label: Label, room: Box): Placed<Label>[] {
  const places = beside(label, room);
  return lines(label.y).flatMap((y) => places.map((place) => ({ ...place, y })));
}

/** In the order of what is wanted. `taken`: what no label may cover, such as points. */
export function placed<Label extends Wanted>(
  wanted: readonly Label[],
  room: Box,
  taken: readonly Box[] = [],
): Placed<Label>[] {
  const all: Placed<Label>[] = [];
  const boxes: Box[] = [];
  for (const label of wanted) {
    const { short } = label;
    const tried = [label, ...(short === undefined ? [] : [{ ...label, text: short }])]
      .flatMap((said) => placesOf(said, room))
      .filter((place) => isIn(boxOf(place), room));
    // There may be thousands of points, of which few are anywhere near.
    const around = hullOf(tried.map(boxOf));
    const near = [...taken, ...boxes].filter((box) => isOver(box, around));
    const free = tried.find((place) => !near.some((box) => isOver(box, boxOf(place))));
    if (free === undefined) continue;
    all.push(free);
    boxes.push(withGap(boxOf(free)));
  }
  return all;
}

const hullOf = (boxes: readonly Box[]): Box => ({
  left: Math.min(...boxes.map(({ left }) => left)),
  right: Math.max(...boxes.map(({ right }) => right)),
  top: Math.min(...boxes.map(({ top }) => top)),
  bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
});
