/** The runs that change by themselves, asked for again and again; lists of others need not be. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { liveRunsQuery } from "@/api/runs";

const REFRESH_MS = 4000;

/**
 * The runs of a project that wait or go on. When one has come or ended, every other list of runs is
 * asked for again.
 */
export function useLiveRuns(projectId: string) {
  const client = useQueryClient();
  const live = useQuery({ ...liveRunsQuery(projectId), refetchInterval: REFRESH_MS });
  const states = live.data?.items.map((run) => `${run.id} ${run.state}`).join();
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current !== undefined && states !== undefined && before.current !== states)
      void client.invalidateQueries({ queryKey: ["runs", "ended"] });
    before.current = states ?? before.current;
  }, [client, states]);
  return live;
}
