/** Numbers as people type them. Pure. */
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
