/** Tables of results, and the sets of a run. Keys: ["results", experiment], ["run-sets", run]. */
import { queryOptions } from "@tanstack/react-query";

import { request, requestText } from "../client";
import type { Results, RunSets } from "../types";

export type ResultsFormat = "markdown" | "csv" | "latex";

const pathOf = (experimentId: string) => `/experiments/${experimentId}/results`;

export const resultsQuery = (experimentId: string) =>
  queryOptions({
    queryKey: ["results", experimentId],
    queryFn: ({ signal }) => request<Results>(pathOf(experimentId), { signal }),
  });

/** Of any runs. */
export const resultsOfRunsQuery = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "results"],
    queryFn: ({ signal }) =>
      request<Results>("/seed-groups/results", { signal, query: { runs: runIds.join(",") } }),
  });

/** All tables as a text. */
export const writtenResults = (experimentId: string, format: ResultsFormat): Promise<string> =>
  requestText(pathOf(experimentId), { query: { format } });

/** What a run has measured on each of its sets of prompts. */
export const runSetsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run-sets", runId],
    queryFn: ({ signal }) => request<RunSets>(`/runs/${runId}/sets`, { signal }),
  });
