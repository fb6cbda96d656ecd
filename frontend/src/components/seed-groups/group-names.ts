/** How groups of seeds are called and coloured: alike in every table and chart. Pure. */
import { COLOURS } from "@/charts/colours";

export const letterOf = (place: number): string => String.fromCharCode(65 + (place % 26));

export const colourOf = (place: number): string => COLOURS[place % COLOURS.length] ?? COLOURS[0];

/** Beyond as many groups as there are colours. */
export const isDashed = (place: number): boolean => place >= COLOURS.length;

const SMALL = 1e-3;

/** A value of a config in few words; small numbers as people say them: 5e-5. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && value !== 0 && Math.abs(value) < SMALL)
    return value.toExponential();
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Data has names and counts of its own, which say more than its id and hash. */
export const isData = (path: string): boolean =>
  /^(?:prompts|demonstrations|preferences|solutions)\.(?:id|sha256)$/.test(path);
