/** Tables of results, and the sets of a run. Keys: ["results", experiment], ["run-sets", run]. */
import { queryOptions } from "@tanstack/react-query";

import { request, requestText } from "../client";
import type { Results, RunSets } from "../types";

export type ResultsFormat = "markdown" | "csv" | "latex";

/** Whose results: those of an experiment by its id, or of any runs. */
export type Whose = string | readonly string[];

const pathOf = (whose: Whose) =>
  typeof whose === "string" ? `/experiments/${whose}/results` : "/seed-groups/results";

const runsOf = (whose: Whose) => (typeof whose === "string" ? {} : { runs: whose.join(",") });

export const resultsQuery = (experimentId: string) =>
  queryOptions({
    queryKey: ["results", experimentId],
    queryFn: ({ signal }) => request<Results>(pathOf(experimentId), { signal }),
  });

/** Of any runs. */
export const resultsOfRunsQuery = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "results"],
    queryFn: ({ signal }) => request<Results>(pathOf(runIds), { signal, query: runsOf(runIds) }),
  });

/** All tables as a text. */
export const writtenResults = (whose: Whose, format: ResultsFormat): Promise<string> =>
  requestText(pathOf(whose), { query: { ...runsOf(whose), format } });

/** What a run has measured on each of its sets of prompts. */
export const runSetsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run-sets", runId],
    queryFn: ({ signal }) => request<RunSets>(`/runs/${runId}/sets`, { signal }),
  });
