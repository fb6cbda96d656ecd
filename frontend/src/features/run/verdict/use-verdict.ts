/** The verdict on a run, again and again while the run is live. */
import { useQuery } from "@tanstack/react-query";

import { verdictQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { isLive, STEPS_REFETCH_MS } from "@/components/run-list/batches";

export function useVerdict(run: Run) {
  return useQuery({
    ...verdictQuery(run.id),
    refetchInterval: isLive(run) ? STEPS_REFETCH_MS : (false as const),
  });
}
