/** Runs side by side, grouped by what they are seeds of. Keys: ["seed-groups", runs, ...]. */
import { queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { GroupCurves, SeedGroups } from "./types";

export const seedGroupsQuery = (runIds: readonly string[], metric: string | null) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "answer", metric],
    queryFn: ({ signal }) =>
      request<SeedGroups>("/seed-groups", { signal, query: { runs: runIds.join(","), metric } }),
  });

/** The curve of each group: what its seeds say together. */
export const groupCurvesQuery = (runIds: readonly string[], name: string, points: number) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "curves", name, points],
    queryFn: ({ signal }) =>
      request<GroupCurves>("/seed-groups/curves", {
        signal,
        query: { runs: runIds.join(","), names: name, points },
      }),
  });
