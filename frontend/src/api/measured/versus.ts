/** Two generate runs judged by people. Key: ["versus", run, other]. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "../client";
import type { PairsPutUp, Versus } from "../types";

export const versusQuery = (runId: string, otherRunId: string) =>
  queryOptions({
    queryKey: ["versus", runId, otherRunId],
    queryFn: ({ signal }) =>
      request<Versus>(`/runs/${runId}/versus`, { signal, query: { other_run_id: otherRunId } }),
  });

/** Put at most so many pairs up for ranking. */
export const putUpPairs = (runId: string, otherRunId: string, pairs: number) =>
  post<PairsPutUp>(`/runs/${runId}/versus`, { other_run_id: otherRunId, pairs });
