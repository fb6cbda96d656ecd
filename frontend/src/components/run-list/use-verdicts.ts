/** What the metrics of the runs of a list say of each: one request for fifty runs. */
import { useQueries } from "@tanstack/react-query";

import { verdictsQuery } from "@/api/runs";
import type { Run, RunVerdict } from "@/api/types";
import { batches, EVALUATIONS_REFETCH_MS, isLive } from "@/components/run-list/batches";

/** By run: those that go on are asked for again and again. */
export function useVerdicts(runs: readonly Run[]): ReadonlyMap<string, RunVerdict> {
  const measured = runs.filter((run) => Object.keys(run.summary).length > 0);
  return useQueries({
    queries: batches(measured).map((page) => ({
      ...verdictsQuery(page.map((run) => run.id)),
      refetchInterval: page.some(isLive) ? EVALUATIONS_REFETCH_MS : (false as const),
      staleTime: page.some(isLive) ? 0 : 60_000,
    })),
    combine: (answers) =>
      new Map(answers.flatMap((answer) => answer.data ?? []).map((one) => [one.run, one])),
  });
}
