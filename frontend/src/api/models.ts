/** The registry of models. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Listing, Model, ModelDetail } from "./types";

/** More than these the API lists in no answer. */
export const MOST_LISTED = 500;

/** The newest of every project that the reader sees; `modelsOf` has those of one. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) =>
    request<Listing<Model>>("/models", { signal, query: { limit: MOST_LISTED } }),
});

/** The newest that runs of a project may use: its own and the shared ones. */
export const modelsOf = (projectId: string) =>
  queryOptions({
    queryKey: [...modelsQuery.queryKey, projectId],
    queryFn: ({ signal }) =>
      request<Listing<Model>>("/models", {
        signal,
        query: { project_id: projectId, limit: MOST_LISTED },
      }),
  });

export const modelQuery = (modelId: string) =>
  queryOptions({
    queryKey: ["model", modelId],
    queryFn: ({ signal }) => request<ModelDetail>(`/models/${modelId}`, { signal }),
  });

export interface NewModel {
  name: string;
  kind: "causal_lm" | "reward_model" | "process_model";
  source: { path: string } | { hub_id: string };
  project_id: string | null;
}

export const registerModel = (body: NewModel) => post<Model>("/models", body);
