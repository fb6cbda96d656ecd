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

/** The newest base models that runs of a project may use: no run has made them. */
export const baseModelsOf = (projectId: string) =>
  queryOptions({
    queryKey: [...modelsKey, projectId, "base"],
    queryFn: ({ signal }) =>
      request<Listing<Model>>("/models", {
        signal,
        query: { project_id: projectId, is_base: true, limit: MOST_LISTED },
      }),
  });

/** Newest first, each once: a base model may be older than the newest of all. */
export function withBases(newest: readonly Model[], bases: readonly Model[]): Model[] {
  const listed = new Set(newest.map(({ id }) => id));
  return [...newest, ...bases.filter(({ id }) => !listed.has(id))];
}

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
