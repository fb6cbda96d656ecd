/** What differs between two texts, word by word; pure. */

export interface Piece {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Of each text; what follows is shown without marks. */
export const MOST_WORDS = 2000;

/** Words of `a` and of `b`, each marked by whether the other lacks it (longest common subsequence). */
export function diff(a: string, b: string): [Piece[], Piece[]] {
  const [left, leftRest] = cut(a);
  const [right, rightRest] = cut(b);
  const common = table(left, right);
  const result: [Piece[], Piece[]] = [[], []];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      add(result[0], left[i++], false);
      add(result[1], right[j++], false);
    } else if (
      j >= right.length ||
      (i < left.length && at(common, i + 1, j) >= at(common, i, j + 1))
    )
      add(result[0], left[i++], true);
    else add(result[1], right[j++], true);
  }
  if (leftRest !== "") add(result[0], leftRest, false);
  if (rightRest !== "") add(result[1], rightRest, false);
  return result;
}

/** The words that are compared, and the rest of the text. */
function cut(text: string): [words: string[], rest: string] {
  const words = text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  return [words.slice(0, MOST_WORDS), words.slice(MOST_WORDS).join("")];
}

/** Whether some of a text is too far behind to be compared. */
export function isCut(text: string): boolean {
  return cut(text)[1] !== "";
}

function table(left: readonly string[], right: readonly string[]): Uint16Array[] {
  const rows = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const row = rows[i];
      if (row === undefined) continue;
      row[j] =
        left[i] === right[j]
          ? at(rows, i + 1, j + 1) + 1
          : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
    }
  return rows;
}

function at(rows: readonly Uint16Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}

function add(pieces: Piece[], text: string | undefined, isOwn: boolean): void {
  const last = pieces.at(-1);
  if (last?.isOwn === isOwn) pieces[pieces.length - 1] = { text: last.text + (text ?? ""), isOwn };
  else pieces.push({ text: text ?? "", isOwn });
}
