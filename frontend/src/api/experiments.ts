/** Experiments: named groups of runs. Key: ["experiments", project]. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Experiment, Listing } from "./types";

export const experimentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["experiments", projectId],
    queryFn: ({ signal }) =>
      request<Listing<Experiment>>("/experiments", {
        signal,
        query: { project_id: projectId, limit: 500 },
      }),
  });

export const createExperiment = (projectId: string, name: string, idempotencyKey: string) =>
  post<Experiment>("/experiments", { project_id: projectId, name }, { idempotencyKey });
