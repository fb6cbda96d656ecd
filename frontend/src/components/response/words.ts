/** What differs between two texts, word by word; pure. */
import { diffArrays } from "diff";

export interface Part {
  readonly text: string;
  /** Whether both texts have it, only the first, or only the second. */
  readonly kind: "same" | "gone" | "new";
}

/** More changes than this are another text, and would take seconds to find. */
const MOST_CHANGES = 2000;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** The parts in order; null where the texts have too little in common. */
export function differences(before: string, after: string): Part[] | null {
  const found = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: MOST_CHANGES });
  if (found === undefined) return null;
  return joined(
    found.map(({ value, added, removed }) => ({
      text: value.join(""),
      kind: added ? "new" : removed ? "gone" : "same",
    })),
  );
}

/** Words that changed one after the other are one change: the space between them tells nothing. */
function joined(parts: readonly Part[]): Part[] {
  const done: Part[] = [];
  let [gone, added] = ["", ""];
  const end = () => {
    if (gone !== "") done.push({ text: gone, kind: "gone" });
    if (added !== "") done.push({ text: added, kind: "new" });
    [gone, added] = ["", ""];
  };
  parts.forEach(({ text, kind }, place) => {
    const isBetween = gone + added !== "" && place < parts.length - 1;
    const isSpace = kind === "same" && /^\s+$/.test(text) && isBetween;
    if (kind === "gone" || isSpace) gone += text;
    if (kind === "new" || isSpace) added += text;
    if (kind !== "same" || isSpace) return;
    end();
    done.push({ text, kind });
  });
  end();
  return done;
}
