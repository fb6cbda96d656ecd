/** A formula as KaTeX sets it, if all of it can be read there. */
import katex from "katex";

import { revealed } from "../hidden-characters";
import { withoutCommands } from "./formula-commands";

/**
 * Null if the formula is wrong, has characters that nobody sees or commands that might hide
 * something, or if a letter or digit of it was not drawn: its source is to be shown.
 */
export function typeset(source: string, isDisplay: boolean): HTMLElement | null {
  if (revealed(source).some((part) => typeof part !== "string")) return null;
  const written = withoutCommands(source);
  if (written === null) return null;
  const place = document.createElement("span");
  try {
    katex.render(source, place, {
      displayMode: isDisplay,
      throwOnError: true,
      strict: "ignore",
      trust: false,
      maxExpand: 200,
      maxSize: 10,
    });
  } catch {
    return null;
  }
  return isWhole(written, place.querySelector(".katex-html")?.textContent ?? "") ? place : null;
}

function isWhole(written: string, drawn: string): boolean {
  const left = counted(drawn);
  return [...counted(written)].every(([letter, n]) => n <= (left.get(letter) ?? 0));
}

/** How often each letter and digit stands in a text, whatever its typeface and accents. */
function counted(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const letter of text.normalize("NFKD").match(/[\p{L}\p{N}]/gu) ?? []) {
    // An i or j under an accent is drawn without its dot.
    const plain = letter === "ı" ? "i" : letter === "ȷ" ? "j" : letter;
    counts.set(plain, (counts.get(plain) ?? 0) + 1);
  }
  return counts;
}
