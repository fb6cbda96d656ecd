/** The registry of models. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Listing, Model, ModelDetail } from "./types";

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => request<Listing<Model>>("/models", { signal, query: { limit: 500 } }),
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
