/** How often what is compared is asked for: while a run is at work, and once more when it ends. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Run } from "@/api/types";
import { isLive } from "@/components/run-batches";

const LIVE_MS = 10_000;

export const refetchMsOf = (runs: readonly Run[] | undefined): number | false =>
  runs?.some(isLive) === true && LIVE_MS;

export function useRefetchMs(
  runIds: readonly string[],
  runs: readonly Run[] | undefined,
): number | false {
  const client = useQueryClient();
  // A run that comes or ends changes the answer and its last values, whatever the interval.
  const states = runs?.map((run) => `${run.id} ${run.state}`).join();
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current !== undefined && states !== undefined && before.current !== states)
      for (const kind of ["seed-groups", "metrics"])
        void client.invalidateQueries({ queryKey: [kind, runIds] });
    before.current = states ?? before.current;
    // The runs are in their states.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, states]);
  return refetchMsOf(runs);
}
