/** A config as text and back, with the place of a mistake. Pure. */
import type { Json, JsonObject } from "@/api/types";

import { isObject } from "./schema";

export type Parsed =
  | { readonly config: JsonObject; readonly mistake: null }
  | { readonly config: null; readonly mistake: string };

export function parsedConfig(text: string): Parsed {
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return { config: value, mistake: null };
    return { config: null, mistake: 'A config is an object: {"method": "sft", ...}.' };
  } catch (error) {
    const message = error instanceof Error ? error.message : "This is not JSON.";
    return { config: null, mistake: withPlace(message, text) };
  }
}

/** Browsers tell the place in words of their own; ours is always "Line 3, column 7". */
function withPlace(message: string, text: string): string {
  const said = /line (\d+) column (\d+)/.exec(message);
  const position = /position (\d+)/.exec(message);
  const what = message
    .replace(/^JSON\.parse: /, "")
    .replace(/,? ?(in JSON )?at (position|line) .*$/, "")
    .replace(/, ".*$/s, "");
  if (said !== null) return `Line ${said[1]}, column ${said[2]}: ${what}.`;
  if (position === null && !/end of/.test(message)) return `${message}.`;
  const before = text.slice(0, position === null ? text.length : Number(position[1])).split("\n");
  return `Line ${before.length}, column ${(before.at(-1) ?? "").length + 1}: ${what}.`;
}
