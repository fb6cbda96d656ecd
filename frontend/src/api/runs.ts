/** Runs: lists, one run, its parts and its verbs. Keys: ["runs", filters] and ["run", id, part]. */
import { queryOptions } from "@tanstack/react-query";

import { post, request, type QueryValue } from "./client";
import type {
  Artifact,
  Checkpoint,
  Listing,
  LogLine,
  Methods,
  Metrics,
  Run,
  RunBody,
  RunEvent,
  Samples,
  Validation,
  Worker,
} from "./types";

export type Axis = "step" | "tokens" | "time";
export type Verb = "cancel" | "pause" | "resume" | "retry" | "archive" | "restore";

export const runsQuery = (filter: Record<string, QueryValue>) =>
  queryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ signal }) => request<Listing<Run>>("/runs", { signal, query: filter }),
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => request<Run>(`/runs/${runId}`, { signal }),
  });

export const metricsQuery = (runIds: readonly string[], query: Record<string, QueryValue>) =>
  queryOptions({
    queryKey: ["metrics", runIds, query],
    queryFn: ({ signal }) =>
      request<Metrics>("/metrics", { signal, query: { runs: runIds.join(","), ...query } }),
  });

export const samplesQuery = (runId: string, step: number | null, sort: string) =>
  queryOptions({
    queryKey: ["run", runId, "samples", step, sort],
    queryFn: ({ signal }) =>
      request<Samples>(`/runs/${runId}/samples`, { signal, query: { step, sort } }),
  });

export const logLines = (runId: string, after: number, signal: AbortSignal) =>
  request<LogLine[]>(`/runs/${runId}/logs`, { signal, query: { after, limit: 5000 } });

const part = <Answer>(runId: string, name: string) =>
  queryOptions({
    queryKey: ["run", runId, name],
    queryFn: ({ signal }) => request<Answer>(`/runs/${runId}/${name}`, { signal }),
  });

export const eventsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "events"],
    queryFn: ({ signal }) =>
      request<RunEvent[]>(`/runs/${runId}/events`, { signal, query: { limit: 5000 } }),
  });
export const checkpointsQuery = (runId: string) => part<Checkpoint[]>(runId, "checkpoints");
export const artifactsQuery = (runId: string) => part<Artifact[]>(runId, "artifacts");

export const methodsQuery = queryOptions({
  queryKey: ["methods"],
  queryFn: ({ signal }) => request<Methods>("/methods", { signal }),
  staleTime: Infinity,
});

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: async ({ signal }) => {
    const answer = await request<Listing<Worker> | Worker[]>("/workers", { signal });
    return Array.isArray(answer) ? answer : answer.items;
  },
});

export const createRun = (body: RunBody, idempotencyKey: string) =>
  post<Run>("/runs", body, { idempotencyKey });

export const validateRun = (body: RunBody, signal: AbortSignal) =>
  post<Validation>("/runs/validate", body, { signal });

export const applyVerb = (runId: string, verb: Verb) => post<Run>(`/runs/${runId}/${verb}`);
