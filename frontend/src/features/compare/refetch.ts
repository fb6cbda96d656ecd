/** How often what is compared is asked for: while a run is at work, and once more when it ends. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Run } from "@/api/types";
import { EVALUATIONS_REFETCH_MS, isLive } from "@/components/run-list/batches";

export const refetchMsOf = (runs: readonly Run[] | undefined): number | false =>
  runs?.some((run) => isLive(run) || run.state === "queued") === true && EVALUATIONS_REFETCH_MS;

export function useRefetchMs(
  runIds: readonly string[],
  runs: readonly Run[] | undefined,
): number | false {
  const client = useQueryClient();
  // A run that begins or ends changes the answer and its last values, whatever the interval.
  const states = runs?.map((run) => `${run.id} ${run.state}`).join();
  const before = useRef<{ asked: string; states: string }>(undefined);
  useEffect(() => {
    if (states === undefined) return;
    const asked = runIds.join();
    if (before.current?.asked === asked && before.current.states !== states)
      for (const kind of ["seed-groups", "metrics"])
        void client.invalidateQueries({ queryKey: [kind, runIds] });
    before.current = { asked, states };
    // The runs are in their states.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, states]);
  return refetchMsOf(runs);
}
