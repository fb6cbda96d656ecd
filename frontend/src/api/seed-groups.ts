/** Runs side by side, grouped by what they are seeds of. Keys: ["seed-groups", runs, ...]. */
import { queryOptions } from "@tanstack/react-query";

import { request, type QueryValue } from "./client";
import type { GroupCurves, SeedGroups } from "./types";

/** By `metric`, or else by evaluations on the set `evaluatedOn`; null: by what decides. */
export const seedGroupsQuery = (
  runIds: readonly string[],
  metric: string | null,
  evaluatedOn: string | null = null,
) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "answer", metric, evaluatedOn],
    queryFn: ({ signal }) =>
      request<SeedGroups>("/seed-groups", {
        signal,
        query: { runs: runIds.join(","), metric, evaluated_on: evaluatedOn },
      }),
  });

/** The curve of each group: what its seeds say together, in so many buckets of a part of an axis. */
export const groupCurvesQuery = (
  runIds: readonly string[],
  name: string,
  query: Readonly<Record<string, QueryValue>>,
) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "curves", name, query],
    queryFn: ({ signal }) =>
      request<GroupCurves>("/seed-groups/curves", {
        signal,
        query: { runs: runIds.join(","), names: name, ...query },
      }),
  });
