/** A long text in the pieces that the browser lays out one by one, each with how much room it takes. */
import { type Hidden, revealed } from "../hidden-characters";
import { cut } from "./cut";

type Parts = readonly (string | Hidden)[];

/** A part of a text, marked where it differs from another text. */
export interface Stretch {
  readonly text: string;
  readonly tag?: Tag;
}

/** What it is marked by; undefined where it is not. */
type Tag = "mark" | "ins" | "del" | undefined;

/** Text, and what is shown of the hidden characters between. */
export interface Shown {
  readonly parts: Parts;
  readonly tag: Tag;
}

export interface Piece {
  readonly shown: readonly Shown[];
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

export function piecesOf(stretches: readonly Stretch[]): (readonly Piece[])[] {
  const parts = stretches.flatMap(({ text, tag }) => revealed(text).map((part) => ({ part, tag })));
  const flat = parts.map(({ part }) => (typeof part === "string" ? part : MARK)).join("");
  const take = takerOf(parts);
  return cut(flat).map((block) => {
    const pieces: Piece[] = [];
    for (const piece of block)
      pieces.push({ shown: take(piece.length), before: endOf(pieces.at(-1)), ...roomOf(piece) });
    return pieces;
  });
}

interface Part {
  readonly part: string | Hidden;
  readonly tag: Tag;
}

/** Gives what is shown of the next characters of the text that is cut. */
function takerOf(parts: readonly Part[]): (length: number) => Shown[] {
  const others = parts.values();
  let left = others.next().value;
  return (length) => {
    const taken: Part[] = [];
    for (let room = length; room > 0 && left !== undefined;) {
      const { part, tag } = left;
      const first = typeof part === "string" ? part.slice(0, room) : part;
      const rest = typeof part === "string" ? part.slice(room) : "";
      taken.push({ part: first, tag });
      room -= typeof first === "string" ? first.length : 1;
      left = rest === "" ? others.next().value : { part: rest, tag };
    }
    return byTag(taken);
  };
}

function byTag(parts: readonly Part[]): Shown[] {
  const shown: { readonly parts: (string | Hidden)[]; readonly tag: Tag }[] = [];
  for (const { part, tag } of parts) {
    const last = shown.at(-1);
    if (last !== undefined && last.tag === tag) last.parts.push(part);
    else shown.push({ parts: [part], tag });
  }
  return shown;
}

/** Without half a character that takes two. */
function endOf(piece: Piece | undefined): string {
  const parts = piece?.shown.flatMap((one) => one.parts) ?? [];
  const text = parts.map((part) => (typeof part === "string" ? part : part.name)).join("");
  return text.slice(-LONGEST_PHRASE).replace(/^[\udc00-\udfff]/, "");
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
