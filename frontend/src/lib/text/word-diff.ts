/** What differs between two texts, word by word; pure. */
import { diffArrays } from "diff";

/** In which of the two texts a part stands. */
type Of = "both" | "first" | "second";

export interface Part {
  readonly text: string;
  readonly of: Of;
}

export interface PartsAndRests {
  readonly parts: readonly Part[];
  /** What follows in each text and was not compared; empty where all of it was. */
  readonly rests: readonly [first: string, second: string];
}

/** To find the differences of texts with more changes takes seconds. */
const MOST_CHANGES = 2000;

/** So many words of each text are compared where the whole has too many changes. */
export const MOST_WORDS = 2000;

/**
 * Runs that are looked for words one by one, because the time that a segmenter takes grows with the
 * square of the length of its text. No word has a space or one of these marks in it.
 */
const RUNS = /\s+|[。，、！？；：]|[^\s。，、！？；：]{1,1000}/gu;

/** The parts in order; null where the texts have too little in common. */
export function compareWords(first: string, second: string): Part[] | null {
  const runs = compareLists(wordsOf(first), wordsOf(second), MOST_CHANGES);
  return runs === null ? null : partsOf(runs);
}

/** The parts in order; where the texts have too little in common, those of their first words. */
export function compareFirstWords(first: string, second: string): PartsAndRests {
  const all = compareWords(first, second);
  if (all !== null) return { parts: all, rests: ["", ""] };
  const [left, right] = [wordsOf(first), wordsOf(second)];
  const runs = compareLists(left.slice(0, MOST_WORDS), right.slice(0, MOST_WORDS)) ?? [];
  const rest = (words: readonly string[]) => words.slice(MOST_WORDS).join("");
  return { parts: partsOf(runs), rests: [rest(left), rest(right)] };
}

export interface Run {
  readonly items: readonly string[];
  readonly of: Of;
}

/** Both lists in one, what is gone before what came for it; null where there are more changes. */
export function compareLists(
  first: readonly string[],
  second: readonly string[],
  mostChanges = Infinity,
): Run[] | null {
  const found = diffArrays([...first], [...second], { maxEditLength: mostChanges });
  return (
    found?.map(({ value, added, removed }) => ({
      items: value,
      of: added ? "second" : removed ? "first" : "both",
    })) ?? null
  );
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
