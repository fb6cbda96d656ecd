/** Where the labels of paths stand: at their ends, in the picture, and never over one another. */

/** A label that wants to begin or end at `x`, with its line of text at `y`; pixels. */
export interface Wanted {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

type Placed<Label> = Label & { readonly anchor: "start" | "end" };

/** What the letters of the picture take; pixels. Those of Chinese and the like are squares. */
const LETTER = 6.7;
const SQUARE = 11;
const FIRST_SQUARE = "\u2e80";
const LINE = 14;
/** From the line of a text to the ends of its letters above and below. */
const ABOVE = 10;
const BELOW = 3;

/** What labels must not leave; pixels. */
export interface Room {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** What a label would hide: a point with its interval; pixels. */
export interface Mark {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/** A label takes at most so much of the width: the paths are what the picture is about. */
const MOST = 0.6;
/** Further away nobody would see what it is a label of. */
const FARTHEST_LINES = 8;

const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (letter < FIRST_SQUARE ? LETTER : SQUARE), 0);

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

/** Left of where its path ends, if there is room, else right of it, as far as there is room. */
function beside<Label extends Wanted>(label: Label, { left, right }: Room): Placed<Label> {
  const text = fitting(label.text, MOST * (right - left));
  const width = widthOf(text);
  if (label.x - width >= left) return { ...label, text, anchor: "end" };
  return { ...label, text, x: Math.min(label.x, right - width), anchor: "start" };
}

const endsOf = ({ text, x, anchor }: Placed<Wanted>): readonly [number, number] => {
  const width = widthOf(text);
  return anchor === "end" ? [x - width, x] : [x, x + width];
};

function isOver(one: Placed<Wanted>, other: Placed<Wanted>): boolean {
  const [left, right] = endsOf(one);
  const [from, to] = endsOf(other);
  return Math.abs(one.y - other.y) < LINE && left < to && from < right;
}

/** The wanted line, then one and more lines above and below it, in turn. */
const lines = (y: number, most: number): number[] =>
  Array.from({ length: 2 * most + 1 }, (_, i) => y + Math.ceil(i / 2) * LINE * (i % 2 ? -1 : 1));

/**
 * In the order of what is wanted. A label hides no marks if it need not go far for that; where there is
 * no room left beside other labels, it stays where it wants to be.
 */
export function placed<Label extends Wanted>(
  wanted: readonly Label[],
  room: Room,
  marks: readonly Mark[] = [],
): Placed<Label>[] {
  const all: Placed<Label>[] = [];
  for (const label of wanted) {
    const here = beside(label, room);
    const [left, right] = endsOf(here);
    const near = marks.filter(({ x }) => x >= left && x <= right);
    const free = lines(label.y, Math.max(wanted.length, FARTHEST_LINES))
      .map((y) => ({ ...here, y }))
      .filter(({ y }) => y - LINE >= room.top && y <= room.bottom)
      .filter((one) => !all.some((other) => isOver(one, other)));
    const clear = free.find(
      ({ y }) =>
        Math.abs(y - label.y) <= FARTHEST_LINES * LINE &&
        near.every(({ top, bottom }) => bottom < y - ABOVE || top > y + BELOW),
    );
    all.push(clear ?? free[0] ?? here);
  }
  return all;
}
