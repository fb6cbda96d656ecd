/** What the metrics of the runs of a list say of each: one request for fifty runs. */
import { useQueries } from "@tanstack/react-query";

import { verdictsQuery } from "@/api/runs";
import type { Run, RunVerdict } from "@/api/types";
import { batches, EVALUATIONS_REFETCH_MS, isLive, unanswered } from "@/components/run-list/batches";

export interface Verdicts {
  readonly found: ReadonlyMap<string, RunVerdict>;
  /** The runs whose verdicts did not load: that they have none would be another thing. */
  readonly failed: ReadonlySet<string>;
}

/** By run: those that go on are asked for again and again. */
export const useVerdicts = (runs: readonly Run[]): Verdicts["found"] =>
  useVerdictsAsked(runs).found;

/** The same, with what did not load. */
export function useVerdictsAsked(runs: readonly Run[]): Verdicts {
  const measured = runs.filter((run) => Object.keys(run.summary).length > 0);
  const pages = batches(measured);
  return useQueries({
    queries: pages.map((page) => ({
      ...verdictsQuery(page.map((run) => run.id)),
      refetchInterval: page.some(isLive) ? EVALUATIONS_REFETCH_MS : (false as const),
      staleTime: page.some(isLive) ? 0 : 60_000,
    })),
    combine: (answers) => ({
      found: new Map(answers.flatMap(({ data }) => data ?? []).map((one) => [one.run, one])),
      failed: new Set(unanswered(pages, answers).map(({ id }) => id)),
    }),
  });
}
