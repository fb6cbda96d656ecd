/** A heat map in numbers: a row for each column, with its quantiles; pure. */
import type { Spread, Summary } from "@/charts/heat/bins";
import type { Axis } from "@/charts/live-curves";
import type { Cell } from "@/lib/files/csv";

export const NAMES = ["least", "5 %", "25 %", "median", "75 %", "95 %", "greatest"] as const;

const X_NAMES = { step: "step", tokens: "tokens", relative: "relative_s", time: "time_s" } as const;

/** For a file: the head first. */
export function rowsOf({ name }: Spread, summaries: readonly Summary[], axis: Axis): Cell[][] {
  return [
    [`${X_NAMES[axis]} up to`, "values", ...NAMES.map((one) => `${name} ${one}`)],
    ...summaries.map(({ x, n, quantiles }) => [x, n, ...quantiles]),
  ];
}

/** At most so many of them, evenly chosen, the last one included. */
export function chosenOf(summaries: readonly Summary[], most: number): readonly Summary[] {
  const every = Math.max(1, Math.ceil(summaries.length / most));
  return summaries.filter((_, place) => (summaries.length - 1 - place) % every === 0);
}
