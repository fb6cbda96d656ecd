/** Experiments: questions with the runs that answer them. Keys: ["experiments", project, ...]. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type {
  Experiment,
  ExperimentBody,
  ExperimentChange,
  ExperimentSummary,
  Listing,
} from "./types";

/** The newest, by their names. */
export const experimentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["experiments", projectId],
    queryFn: ({ signal }) =>
      request<Listing<ExperimentSummary>>("/experiments", {
        signal,
        query: { project_id: projectId, limit: 500 },
      }),
  });

export const experimentPages = (projectId: string, isArchived: boolean) =>
  infiniteQueryOptions({
    queryKey: ["experiments", projectId, "pages", isArchived],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<ExperimentSummary>>("/experiments", {
        signal,
        query: { project_id: projectId, archived: isArchived, limit: 50, cursor: pageParam },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

export const experimentQuery = (experimentId: string) =>
  queryOptions({
    queryKey: ["experiment", experimentId],
    queryFn: ({ signal }) => request<Experiment>(`/experiments/${experimentId}`, { signal }),
  });

export const createExperiment = (
  body: Partial<ExperimentBody> & { project_id: string; name: string },
  idempotencyKey?: string,
) => post<Experiment>("/experiments", body, idempotencyKey === undefined ? {} : { idempotencyKey });

export const changeExperiment = (experimentId: string, change: ExperimentChange) =>
  request<Experiment>(`/experiments/${experimentId}`, { method: "PATCH", body: change });

export const archiveExperiment = (experimentId: string, isArchived: boolean) =>
  post<Experiment>(`/experiments/${experimentId}/${isArchived ? "archive" : "restore"}`);

export const addRuns = (experimentId: string, runIds: readonly string[]) =>
  post<Experiment>(`/experiments/${experimentId}/runs`, { run_ids: runIds });

export const removeRun = (experimentId: string, runId: string) =>
  request<null>(`/experiments/${experimentId}/runs/${runId}`, { method: "DELETE" });
