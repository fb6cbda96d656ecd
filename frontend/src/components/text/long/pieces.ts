/** A long text in the pieces that the browser lays out one by one, each with how much room it takes. */
import { type Hidden, revealed } from "../hidden-characters";
import { cut } from "./cut";

type Parts = readonly (string | Hidden)[];

export interface Piece {
  /** Text, and what is shown of the hidden characters between. */
  readonly parts: Parts;
  /** The end of what its line has before it; empty where it begins one. */
  readonly before: string;
  readonly lines: number;
  /** How wide it would be on one line, about, by the width of an ideograph. */
  readonly ems: number;
}

/** Whoever looks for no more than this finds it across a cut. */
export const LONGEST_PHRASE = 100;

/** Stands for a hidden character while the text is cut: it is one itself, and so not in the text. */
const MARK = "\0";

export function piecesOf(text: string): (readonly Piece[])[] {
  const parts = revealed(text);
  const marks = parts.filter((part) => typeof part !== "string").values();
  const flat = parts.map((part) => (typeof part === "string" ? part : MARK)).join("");
  return cut(flat).map((block) => {
    const pieces: Piece[] = [];
    for (const piece of block) pieces.push(pieceOf(piece, marks, endOf(pieces.at(-1))));
    return pieces;
  });
}

/** Without half a character that takes two. */
function endOf(piece: Piece | undefined): string {
  const shown = piece?.parts.map((part) => (typeof part === "string" ? part : part.name)) ?? [];
  return shown
    .join("")
    .slice(-LONGEST_PHRASE)
    .replace(/^[\udc00-\udfff]/, "");
}

function pieceOf(flat: string, marks: Iterator<Hidden>, before: string): Piece {
  const parts = flat.split(MARK).flatMap((text, place): Parts => {
    const mark = place === 0 ? undefined : marks.next().value;
    return [mark ?? "", text].filter((part) => part !== "");
  });
  return { parts, before, ...roomOf(flat) };
}

const NEWLINE = 0x0a;
const FIRST_IDEOGRAPH = 0x2e80;
const isSurrogate = (code: number) => code >= 0xd800 && code < 0xe000;

function roomOf(text: string): { lines: number; ems: number } {
  let [lines, ems] = [text.endsWith("\n") ? 0 : 1, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) lines++;
    else ems += code < FIRST_IDEOGRAPH || isSurrogate(code) ? 0.55 : 1;
  }
  return { lines, ems: Math.round(ems) };
}
