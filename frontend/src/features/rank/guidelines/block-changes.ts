/**
 * How one version of the guidelines became another, block by block; pure.
 *
 * A block is a paragraph, a list or a piece of code: what an empty line ends. Blocks that stay, come
 * or go as a whole are shown as the markdown that they are; of changed ones the words are compared.
 */
import { compareLists } from "@/lib/text/list-diff";
import { compareFirstWords, type Part } from "@/lib/text/word-diff";

export type Change =
  | { readonly kind: "same" | "added" | "removed"; readonly text: string }
  | { readonly kind: "changed"; readonly words: readonly Part[]; readonly isCut: boolean };

/** However deep in a list. */
const FENCE = /^\s*(```|~~~)/;
/** Of texts with more changes than this the words of the whole are compared. */
const MOST_CHANGED_BLOCKS = 2000;

export function blocksOf(text: string): string[] {
  const blocks: string[][] = [[]];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    if (line.trim() === "" && !isCode) blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.map((lines) => lines.join("\n")).filter((block) => block !== "");
}

export function changesOf(before: string, now: string): Change[] {
  const runs = compareLists(blocksOf(before), blocksOf(now), MOST_CHANGED_BLOCKS);
  if (runs === null) return changeOf(before, now);
  const changes: Change[] = [];
  let [gone, come]: [string[], string[]] = [[], []];
  const settle = () => {
    changes.push(...changeOf(gone.join("\n\n"), come.join("\n\n")));
    [gone, come] = [[], []];
  };
  for (const { items, of } of runs) {
    if (of === "first") gone.push(...items);
    else if (of === "second") come.push(...items);
    else {
      settle();
      // One document: a list goes on over an empty line, and a link may be defined far below.
      changes.push({ kind: "same", text: items.join("\n\n") });
    }
  }
  settle();
  return changes;
}

/** What became of some blocks of which none stayed as it was. */
function changeOf(gone: string, come: string): Change[] {
  if (gone === "" && come === "") return [];
  if (gone === "") return [{ kind: "added", text: come }];
  if (come === "") return [{ kind: "removed", text: gone }];
  return [changedWords(gone, come)];
}

/** The words of both in one line of reading; of what is not compared, only that of `come`. */
function changedWords(gone: string, come: string): Change {
  const { parts, rests } = compareFirstWords(gone, come);
  const rest: Part[] = rests[1] === "" ? [] : [{ text: rests[1], of: "both" }];
  return { kind: "changed", words: [...parts, ...rest], isCut: rests.join("") !== "" };
}
