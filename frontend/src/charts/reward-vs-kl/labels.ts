/** Where the labels of paths stand: at their ends, and never over one another. */

/** A label that wants to begin or end at `x`, with its line of text at `y`; pixels. */
export interface Wanted {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

type Placed<Label> = Label & { readonly anchor: "start" | "end" };

/** What the letters of the picture take; pixels. */
const LETTER = 6.7;
const LINE = 14;

/** What labels must not leave; pixels. */
export interface Room {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

const boxOf = ({ text, x, anchor }: Placed<Wanted>) => {
  const width = text.length * LETTER;
  return anchor === "end" ? [x - width, x] : [x, x + width];
};

function isOver(one: Placed<Wanted>, other: Placed<Wanted>): boolean {
  const [left = 0, right = 0] = boxOf(one);
  const [from = 0, to = 0] = boxOf(other);
  return Math.abs(one.y - other.y) < LINE && left < to && from < right;
}

/** The wanted line, then one and more lines above and below it, in turn. */
const lines = (y: number, most: number): number[] =>
  Array.from({ length: 2 * most + 1 }, (_, i) => y + Math.ceil(i / 2) * LINE * (i % 2 ? -1 : 1));

/** In the order of what is wanted; where there is no room left, a label stays where it wants to be. */
export function placed<Label extends Wanted>(
  wanted: readonly Label[],
  room: Room,
): Placed<Label>[] {
  const all: Placed<Label>[] = [];
  for (const label of wanted) {
    const anchor = label.x - label.text.length * LETTER > room.left ? "end" : "start";
    const free = lines(label.y, wanted.length)
      .map((y): Placed<Label> => ({ ...label, y, anchor }))
      .filter(({ y }) => y - LINE >= room.top && y <= room.bottom)
      .find((one) => !all.some((other) => isOver(one, other)));
    all.push(free ?? { ...label, anchor });
  }
  return all;
}
