/** The runs of a list as requests ask for them: many at once, those that go on by themselves. Pure. */
import type { Run } from "@/api/types";

/** Of one request. */
const MOST_RUNS = 50;

/** Whether a trainer is at work on it. */
export const isLive = (run: Run) => run.state === "running" || run.state === "stopping";

function inPages(runs: readonly Run[]): readonly (readonly Run[])[] {
  const pages = [];
  for (let from = 0; from < runs.length; from += MOST_RUNS)
    pages.push(runs.slice(from, from + MOST_RUNS));
  return pages;
}

/** Runs that go on and runs that do not are never in one request: it would be asked again for all. */
export function batches(runs: readonly Run[]): readonly (readonly Run[])[] {
  return [...inPages(runs.filter(isLive)), ...inPages(runs.filter((run) => !isLive(run)))];
}
