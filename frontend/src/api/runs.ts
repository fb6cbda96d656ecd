/** Runs: lists, one run, its parts and its verbs. Keys: ["runs", filters] and ["run", id, part]. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { post, request, type QueryValue } from "./client";
import type {
  Artifact,
  Checkpoint,
  Failure,
  Listing,
  LogLine,
  Methods,
  Metrics,
  Run,
  RunBody,
  RunEvent,
  Samples,
  Validation,
  Workers,
} from "./types";

export type Verb = "cancel" | "pause" | "resume" | "retry" | "archive" | "restore";

export const runsQuery = (filter: Record<string, QueryValue>) =>
  queryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ signal }) => request<Listing<Run>>("/runs", { signal, query: filter }),
  });

/** Runs that come and end between two looks at the live ones are seen then. */
const ENDED_REFRESH_MS = 60_000;

/** All runs that a filter lets through, a page at a time. */
export const runPages = (filter: Record<string, QueryValue>) =>
  infiniteQueryOptions({
    queryKey: ["runs", "ended", "pages", filter],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Run>>("/runs", {
        signal,
        query: { limit: 50, cursor: pageParam, ...filter },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: ENDED_REFRESH_MS,
  });

/** The last runs that ended like this. */
export const endedRunsQuery = (projectId: string, state: readonly string[], limit: number) =>
  queryOptions({
    queryKey: ["runs", "ended", projectId, state, limit],
    queryFn: ({ signal }) =>
      request<Listing<Run>>("/runs", { signal, query: { project_id: projectId, state, limit } }),
    refetchInterval: ENDED_REFRESH_MS,
  });

/** The runs that change by themselves. */
export const liveRunsQuery = (projectId: string) =>
  runsQuery({
    project_id: projectId,
    state: ["queued", "running", "stopping", "paused"],
    limit: 100,
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

const itemsOf = async <Item>(
  path: string,
  signal: AbortSignal,
  query: Record<string, QueryValue> = {},
) => (await request<Listing<Item>>(path, { signal, query })).items;

export const logQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "logs"],
    queryFn: ({ signal }) => logLines(runId, signal),
  });

/** Every line that is stored, page by page. */
async function logLines(runId: string, signal: AbortSignal): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  let after: string | null | undefined = "0";
  while (after) {
    const query: Record<string, QueryValue> = { after, limit: 5000 };
    const page: Listing<LogLine> = await request(`/runs/${runId}/logs`, { signal, query });
    lines.push(...page.items);
    after = page.next_cursor;
  }
  return lines;
}

const part = <Item>(runId: string, name: string, query: Record<string, QueryValue> = {}) =>
  queryOptions({
    queryKey: ["run", runId, name],
    queryFn: ({ signal }) => itemsOf<Item>(`/runs/${runId}/${name}`, signal, query),
  });

/** What happened, without the numbers and lines that have pages of their own. */
const HISTORY_EVENTS = ["start", "state", "checkpoint", "alert", "rewind"];

export const eventsQuery = (runId: string) =>
  part<RunEvent>(runId, "events", { limit: 5000, type: HISTORY_EVENTS });
export const checkpointsQuery = (runId: string) => part<Checkpoint>(runId, "checkpoints");
export const artifactsQuery = (runId: string) => part<Artifact>(runId, "artifacts");
/** Bad ends, newest first. */
export const failuresQuery = (runId: string) => part<Failure>(runId, "failures");

export const methodsQuery = queryOptions({
  queryKey: ["methods"],
  queryFn: ({ signal }) => request<Methods>("/methods", { signal }),
  staleTime: Infinity,
});

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => request<Workers>("/workers", { signal }),
});

export const createRun = (body: RunBody, idempotencyKey: string) =>
  post<Run>("/runs", body, { idempotencyKey });

export const validateRun = (body: RunBody, signal?: AbortSignal) =>
  post<Validation>("/runs/validate", body, signal === undefined ? {} : { signal });

export const retryRun = (runId: string, from: "checkpoint" | "start") =>
  post<Run>(`/runs/${runId}/retry`, { from });

export const pinCheckpoint = (runId: string, step: number, isPinned: boolean) =>
  post<Checkpoint>(`/runs/${runId}/checkpoints/${step}/${isPinned ? "pin" : "unpin"}`);

export const applyVerb = (runId: string, verb: Verb) => post<Run>(`/runs/${runId}/${verb}`);
