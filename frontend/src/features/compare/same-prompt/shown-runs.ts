/** Which run stands for each group where runs are side by side. Pure. */
import type { SeedGroup } from "@/api/types";

/** Of one request of the API. */
export const MOST_COLUMNS = 12;

export interface ShownRun {
  readonly group: number;
  readonly run: string;
}

/** Of each group the run that was chosen, else its first that is not hidden. */
export function shownRuns(
  groups: readonly SeedGroup[],
  chosen: readonly string[],
  hidden: ReadonlySet<string>,
): readonly ShownRun[] {
  const shown = groups.flatMap(({ runs }, group) => {
    const visible = runs.filter((run) => !hidden.has(run));
    const run = visible.find((one) => chosen.includes(one)) ?? visible[0];
    return run === undefined ? [] : [{ group, run }];
  });
  return shown.slice(0, MOST_COLUMNS);
}

/** The choices, with another run for one group. */
export function chosenInstead(
  groups: readonly SeedGroup[],
  chosen: readonly string[],
  { group, run }: ShownRun,
): readonly string[] {
  const others = chosen.filter((one) => groups[group]?.runs.includes(one) !== true);
  return groups[group]?.runs[0] === run ? others : [...others, run];
}

/** The steps that any column has, ascending. */
export const allSteps = (columns: readonly { steps: readonly number[] }[]): readonly number[] =>
  [...new Set(columns.flatMap(({ steps }) => steps))].sort((a, b) => a - b);
