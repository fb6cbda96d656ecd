/** The registry of models. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Listing, Model, ModelDetail } from "./types";

/** More than these the API lists in no answer. */
export const MOST_LISTED = 500;

/** Of all lists of models. */
export const modelsKey = ["models"] as const;

/** The newest that runs of a project may use: its own and the shared ones. */
export const modelsOf = (projectId: string) =>
  queryOptions({
    queryKey: [...modelsKey, projectId],
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
