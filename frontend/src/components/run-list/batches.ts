/** The runs of a list as requests ask for them: many at once, those that go on by themselves. Pure. */
import type { Run } from "@/api/types";

/** Of one request. */
const MOST_RUNS = 50;

// How often answers about runs at work are asked for again.
/** What changes with each step: a run's trend, its verdict. */
export const STEPS_REFETCH_MS = 5_000;
/** What changes with evaluations, or takes several runs together. */
export const EVALUATIONS_REFETCH_MS = 10_000;
/** Large answers, as on all training prompts. */
export const LARGE_REFETCH_MS = 15_000;
/** What other people change: which runs there are, a run that is resumed. */
export const OTHERS_REFETCH_MS = 30_000;

/** Whether a trainer is at work on it. */
export const isLive = (run: Run) => run.state === "running" || run.state === "stopping";

/** Whether a trainer is at work on it, or will be without anybody's doing. */
export const mayTell = (run: Run) => isLive(run) || run.state === "queued" || run.is_retried;

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

/** The runs of these pages whose request failed while nothing of them is known from before. */
export const unanswered = (
  pages: readonly (readonly Run[])[],
  answers: readonly { readonly data: unknown; readonly isError: boolean }[],
): readonly Run[] =>
  pages.filter((_, i) => answers[i]?.isError === true && answers[i].data === undefined).flat();
