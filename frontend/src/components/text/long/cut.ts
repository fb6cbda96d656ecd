/**
 * Where a long text is cut so that it can be laid out piece by piece: at the ends of its lines, and
 * within a line that is too long for that, where none of its characters looks different behind a cut.
 * Joined together again, the pieces are the text.
 */

/** A piece ends with the first line that ends behind so many characters. */
export const ENOUGH = 1500;

/** A line is cut where it is longer. */
export const LONGEST_LINE = 4000;

/** So far before that a cut is looked for where a line may well end: behind a space or a mark. */
const WINDOW = 500;

/** One piece with whole lines, or one line in several. */
export type Block = readonly string[];

export function cut(text: string): Block[] {
  const blocks: Block[] = [];
  for (let from = 0; from < text.length;) {
    const end = endOfPiece(text, from);
    const piece = text.slice(from, end);
    blocks.push(end - from > LONGEST_LINE ? cutLine(piece) : [piece]);
    from = end;
  }
  return blocks;
}

/** What stands before a line that is too long is a piece of its own. */
function endOfPiece(text: string, from: number): number {
  const newline = text.indexOf("\n", from + ENOUGH);
  const end = newline < 0 ? text.length : newline + 1;
  if (end - from <= LONGEST_LINE) return end;
  const before = text.lastIndexOf("\n", from + ENOUGH - 1) + 1;
  return before > from ? before : end;
}

/** The first half of a character that takes two. */
const HALF = /[\ud800-\udbff]$/;

function cutLine(line: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (line.length - from > LONGEST_LINE) {
    const length = lengthOfPiece(line.slice(from, from + LONGEST_LINE).replace(HALF, ""));
    if (length === 0) break;
    pieces.push(line.slice(from, from + length));
    from += length;
  }
  return [...pieces, line.slice(from)];
}

const HERE_A_LINE_MAY_END = [
  /\s(?=[^\s\p{Mark}\u200d])/gu,
  /[。，、！？；：](?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])/gu,
];

/** How much of the beginning of a line is its first piece; 0 where it can be cut nowhere. */
function lengthOfPiece(beginning: string): number {
  const start = beginning.length - WINDOW;
  const window = beginning.slice(start);
  for (const ends of HERE_A_LINE_MAY_END) {
    const last = [...window.matchAll(ends)].at(-1);
    if (last !== undefined) return start + last.index + last[0].length;
  }
  return lastSafePlace(beginning);
}

/** Scripts whose letters have another form beside each other. */
const JOINED =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Adlam}]/u;

const areJoined = (before: string, after: string): boolean =>
  before.endsWith("\u200d") || (JOINED.test(before) && JOINED.test(after));

/** The last place between two characters as people see them, of which neither shapes the other. */
function lastSafePlace(text: string): number {
  const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  let [safe, before] = [0, ""];
  for (const { index, segment } of segmenter.segment(text)) {
    if (!areJoined(before, segment)) safe = index;
    before = segment;
  }
  return safe;
}
