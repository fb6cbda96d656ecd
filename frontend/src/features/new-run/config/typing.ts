/** Numbers and texts as people type them. Pure. */
import type { Json } from "@/api/types";

/**
 * What was typed as the config holds it: nothing is undefined, what is no number stays text (the
 * service says what is wrong with it), and so does an integer that JavaScript would round.
 */
export function numberOf(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(value);
  if (!isNumber || (Number.isInteger(value) && !Number.isSafeInteger(value))) return trimmed;
  return value;
}

export function shownValue(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Texts, one a line; a line break in a text is \n, a tab \t, a backslash \\. Empty ones are none. */
export function textsOf(lines: string): string[] {
  const texts = lines.split("\n").filter((line) => line !== "");
  return texts.map((text) =>
    text.replace(/\\([nt\\])/g, (_, letter: string) => ESCAPED[letter] ?? letter),
  );
}

export const shownTexts = (texts: readonly Json[]): string =>
  texts
    .map((text) => String(text).replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/\t/g, "\\t"))
    .join("\n");

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t" };
