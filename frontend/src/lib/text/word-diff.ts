/** What differs between two texts, word by word; pure. */
import { compareLists, type Of, type Run } from "./list-diff";

export interface Part {
  readonly text: string;
  readonly of: Of;
}

export interface PartsAndRests {
  readonly parts: readonly Part[];
  /** What follows in each text and was not compared; empty where all of it was. */
  readonly rests: readonly [first: string, second: string];
}

/** The time that it takes to find changes grows with the square of their number. */
const MOST_CHANGES = 2000;

/** So many words of each text are compared where the whole has too many changes. */
export const MOST_WORDS = 2000;

/**
 * Runs that are looked for words one by one, because the time that a segmenter takes grows with the
 * square of the length of its text. No word has a space or one of these marks in it. A text without
 * them is cut every 1,000 characters, so that a change may also mark words at the cuts that follow.
 */
const RUNS = /\s{1,1000}|[。，、！？；：]|[^\s。，、！？；：]{1,1000}/gu;

/** The parts in order; null where the texts have too little in common. */
export function compareWords(first: string, second: string): Part[] | null {
  return compare(wordsOf(first), wordsOf(second), MOST_CHANGES);
}

/** The parts in order; where the texts have too little in common, those of their first words. */
export function compareFirstWords(first: string, second: string): PartsAndRests {
  const [left, right] = [wordsOf(first), wordsOf(second)];
  const all = compare(left, right, MOST_CHANGES);
  if (all !== null) return { parts: all, rests: ["", ""] };
  const parts = compare(left.slice(0, MOST_WORDS), right.slice(0, MOST_WORDS)) ?? [];
  const rest = (words: readonly string[]) => words.slice(MOST_WORDS).join("");
  return { parts, rests: [rest(left), rest(right)] };
}

function compare(
  first: readonly string[],
  second: readonly string[],
  mostChanges?: number,
): Part[] | null {
  const runs = compareLists(first, second, mostChanges);
  return runs === null ? null : partsOf(runs);
}

/** A word, a space or a punctuation mark each. */
function wordsOf(text: string): string[] {
  // Of one language for all, so that everybody sees the same differences.
  const segmenter = new Intl.Segmenter("en", { granularity: "word" });
  const known = new Map<string, string[]>();
  return (text.match(RUNS) ?? []).flatMap((run) => {
    const words = known.get(run) ?? Array.from(segmenter.segment(run), ({ segment }) => segment);
    known.set(run, words);
    return words;
  });
}

/** Words that changed one after the other are one change: the space between them tells nothing. */
function partsOf(runs: readonly Run[]): Part[] {
  const parts: Part[] = [];
  let [gone, added] = ["", ""];
  const end = () => {
    if (gone !== "") parts.push({ text: gone, of: "first" });
    if (added !== "") parts.push({ text: added, of: "second" });
    [gone, added] = ["", ""];
  };
  runs.forEach(({ items, of }, place) => {
    const text = items.join("");
    const isBetween = gone + added !== "" && place < runs.length - 1;
    const isSpace = of === "both" && /^\s+$/.test(text) && isBetween;
    if (of === "first" || isSpace) gone += text;
    if (of === "second" || isSpace) added += text;
    if (of !== "both" || isSpace) return;
    end();
    parts.push({ text, of });
  });
  end();
  return parts;
}
