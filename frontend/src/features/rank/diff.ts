/** What differs between two texts, word by word; pure. */

export interface Piece {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Of each text; what follows is shown without marks. */
export const MOST_WORDS = 2000;

/** Of which text a token is. */
type Of = "both" | "first" | "second";

export interface Token {
  readonly text: string;
  readonly of: Of;
}

/** Both lists in one (longest common subsequence); what is gone stands before what came for it. */
export function woven(left: readonly string[], right: readonly string[]): Token[] {
  const common = table(left, right);
  const tokens: Token[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const [one, other] = [left[i] ?? "", right[j] ?? ""];
    if (i < left.length && j < right.length && one === other) {
      tokens.push({ text: one, of: "both" });
      i += 1;
      j += 1;
    } else if (
      j >= right.length ||
      (i < left.length && at(common, i + 1, j) >= at(common, i, j + 1))
    ) {
      tokens.push({ text: one, of: "first" });
      i += 1;
    } else {
      tokens.push({ text: other, of: "second" });
      j += 1;
    }
  }
  return tokens;
}

/** Words of `a` and of `b`, each marked by whether the other lacks it. */
export function diff(a: string, b: string): [Piece[], Piece[]] {
  const [left, leftRest] = cut(a);
  const [right, rightRest] = cut(b);
  const result: [Piece[], Piece[]] = [[], []];
  for (const { text, of } of woven(left, right)) {
    if (of !== "second") add(result[0], text, of === "first");
    if (of !== "first") add(result[1], text, of === "second");
  }
  if (leftRest !== "") add(result[0], leftRest, false);
  if (rightRest !== "") add(result[1], rightRest, false);
  return result;
}

/** The words of both texts in one line of reading; of what is not compared, only that of `b`. */
export function wovenWords(a: string, b: string): Token[] {
  const [left] = cut(a);
  const [right, rest] = cut(b);
  const joined: Token[] = [];
  for (const token of [...woven(left, right), { text: rest, of: "both" } as const]) {
    const last = joined.at(-1);
    if (last?.of === token.of) joined.splice(-1, 1, { ...last, text: last.text + token.text });
    else if (token.text !== "") joined.push(token);
  }
  return joined;
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

function add(pieces: Piece[], text: string, isOwn: boolean): void {
  const last = pieces.at(-1);
  if (last?.isOwn === isOwn) pieces[pieces.length - 1] = { text: last.text + text, isOwn };
  else pieces.push({ text, isOwn });
}
