/**
 * How one version of the guidelines became another, block by block; pure.
 *
 * A block is a paragraph, a list or a piece of code: what an empty line ends. Blocks that stay, come
 * or go as a whole are shown as the markdown that they are; of changed ones the words are compared.
 */
import { isCut, woven, wovenWords, type Token } from "../diff";

export type Change =
  | { readonly kind: "same" | "added" | "removed"; readonly text: string }
  | { readonly kind: "changed"; readonly words: readonly Token[]; readonly isCut: boolean };

/** However deep in a list. */
const FENCE = /^\s*(```|~~~)/;
/** Of more the words of the whole are compared: the table of blocks grows with their square. */
const MOST_BLOCKS = 2000;

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
  const [first, second] = [blocksOf(before), blocksOf(now)];
  if (Math.max(first.length, second.length) > MOST_BLOCKS) return changeOf(before, now);
  const changes: Change[] = [];
  let gone: string[] = [];
  let come: string[] = [];
  const settle = () => {
    changes.push(...changeOf(gone.join("\n\n"), come.join("\n\n")));
    [gone, come] = [[], []];
  };
  for (const { text, of } of woven(first, second)) {
    if (of === "first") gone.push(text);
    else if (of === "second") come.push(text);
    else {
      settle();
      // One document: a list goes on over an empty line, and a link may be defined far below.
      const last = changes.at(-1);
      if (last?.kind === "same")
        changes[changes.length - 1] = { kind: "same", text: `${last.text}\n\n${text}` };
      else changes.push({ kind: "same", text });
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
  return [{ kind: "changed", words: wovenWords(gone, come), isCut: isCut(gone) || isCut(come) }];
}
