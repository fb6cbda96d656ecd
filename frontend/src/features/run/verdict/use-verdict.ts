/** The verdict on a run, again and again while the run is live. */
import { useQuery } from "@tanstack/react-query";

import { verdictQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { isLive, STEPS_REFETCH_MS } from "@/components/run-list/batches";

import { saidOf } from "./metric-said";

export function useVerdict(run: Run) {
  return useQuery({
    ...verdictQuery(run.id),
    refetchInterval: isLive(run) ? STEPS_REFETCH_MS : (false as const),
  });
}

/** What the verdict says of the run's metrics, and by which of them it judges. */
export function useSaid(run: Run) {
  const verdict = useVerdict(run).data ?? null;
  const judge = verdict?.judged_by ?? null;
  return { judge, saidOf: (name: string) => saidOf(name, verdict) };
}
