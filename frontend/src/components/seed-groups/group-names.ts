/** How groups of seeds are called and coloured: alike in every table and chart. Pure. */
import type { SeedGroup } from "@/api/types";
import { COLOURS } from "@/charts/colours";

export const letterOf = (place: number): string => String.fromCharCode(65 + (place % 26));

export const colourOf = (place: number): string => COLOURS[place % COLOURS.length] ?? COLOURS[0];

/** Beyond as many groups as there are colours. */
export const isDashed = (place: number): boolean => place >= COLOURS.length;

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

const MOST_IN_NAME = 3;
const SMALL = 1e-3;

/** What sets a group apart, as `lr 0.001, estimator grpo`; the last word of each path says enough. */
export function nameOf(group: Pick<SeedGroup, "config">): string {
  const known = Object.entries(group.config).filter(([, value]) => value !== null);
  const parts = known
    .filter(([path]) => !path.endsWith(".sha256"))
    .map(([path, value]) =>
      isData(path)
        ? `${path.split(".")[0] ?? path} …${shownValue(value).slice(-4)}`
        : `${path.split(".").at(-1) ?? path} ${shownValue(value)}`,
    );
  const rest = parts.length - MOST_IN_NAME;
  const shown = parts.slice(0, MOST_IN_NAME).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown || "the same config";
}
