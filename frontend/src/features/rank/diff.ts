/** Two texts beside each other: what of each the other one lacks; pure. */
import { compareFirstWords, type PartsAndRests } from "@/lib/text/word-diff";

export interface Piece {
  readonly text: string;
  readonly isOwn: boolean;
}

export interface Diff {
  readonly sides: readonly [first: Piece[], second: Piece[]];
  /** Whether the ends of the texts were not compared: they are shown without marks. */
  readonly isCut: boolean;
}

export function diff(first: string, second: string): Diff {
  const { parts, rests } = compareFirstWords(first, second);
  return {
    sides: [side(parts, "first", rests[0]), side(parts, "second", rests[1])],
    isCut: rests.join("") !== "",
  };
}

function side(parts: PartsAndRests["parts"], own: "first" | "second", rest: string): Piece[] {
  const pieces: Piece[] = [];
  for (const { text, of } of [...parts, { text: rest, of: "both" }]) {
    if (text === "" || (of !== "both" && of !== own)) continue;
    const isOwn = of === own;
    const last = pieces.at(-1);
    if (last?.isOwn === isOwn) pieces.splice(-1, 1, { text: last.text + text, isOwn });
    else pieces.push({ text, isOwn });
  }
  return pieces;
}
