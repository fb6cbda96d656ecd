/** What runs do not have in common besides their configs. Keys: ["differences", kind, runs]. */
import { queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { DataDifferences, EnvironmentDifferences } from "./types";

const differences = <Answer>(kind: "environment" | "data", runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["differences", kind, runIds],
    queryFn: ({ signal }) =>
      request<Answer>(`/${kind}-differences`, { signal, query: { runs: runIds.join(",") } }),
  });

export const environmentDifferencesQuery = (runIds: readonly string[]) =>
  differences<EnvironmentDifferences>("environment", runIds);

export const dataDifferencesQuery = (runIds: readonly string[]) =>
  differences<DataDifferences>("data", runIds);
