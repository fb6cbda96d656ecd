/** Runs: lists, one run, its parts and its verbs. Keys: ["runs", filters] and ["run", id, part]. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { address, post, request, type QueryValue } from "./client";
import type {
  AnswerLine,
  AnswersCount,
  Artifact,
  Checkpoint,
  Comparison,
  Distributions,
  Failure,
  Listing,
  LogLine,
  Methods,
  Metrics,
  MetricsAccepted,
  OutsideMetrics,
  Run,
  RunBody,
  RunChange,
  RunEvent,
  RunKeys,
  RunsChange,
  RunVerdict,
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

/** All runs that a filter lets through, a page at a time; the stream says when to ask again. */
export const runPages = (filter: Record<string, QueryValue>) =>
  infiniteQueryOptions({
    queryKey: ["runs", "pages", filter],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Run>>("/runs", {
        signal,
        query: { limit: 50, cursor: pageParam, ...filter },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

/** What the runs of a project are filtered, sorted and shown by. */
export const runKeysQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["run-keys", projectId],
    queryFn: ({ signal }) => request<RunKeys>(`/projects/${projectId}/run-keys`, { signal }),
    staleTime: 60_000,
  });

/** The last runs that ended like this. */
export const endedRunsQuery = (projectId: string, state: readonly string[], limit: number) =>
  queryOptions({
    queryKey: ["runs", "ended", projectId, state, limit],
    queryFn: ({ signal }) =>
      request<Listing<Run>>("/runs", { signal, query: { project_id: projectId, state, limit } }),
    refetchInterval: ENDED_REFRESH_MS,
  });

/**
 * The runs that change by themselves, a page of them. Descending, the states come as stopping,
 * running, queued, paused: however many wait, those that train are there.
 */
export const liveRunsQuery = (projectId: string) =>
  runsQuery({
    project_id: projectId,
    state: ["queued", "running", "stopping", "paused"],
    sort: "-state",
    limit: 100,
  });

/**
 * Which evaluations succeeded last, of all that the reader may see; empty: none has. Several, because
 * by the clock of its worker one that has just ended may have ended before others.
 */
export const newestEvaluationsQuery = queryOptions({
  queryKey: ["newest-evaluations"],
  queryFn: async ({ signal }) => {
    const query = { method: "evaluate", state: "succeeded", sort: "-finished", limit: 20 };
    const { items } = await request<Listing<Run>>("/runs", { signal, query });
    // One that is queued again ends again.
    return items.map(({ id, finished_at: at }) => `${id} ${String(at)}`).join();
  },
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

/** Attach results that were measured outside the run; they replace those of the same steps. */
export const attachMetrics = (runId: string, results: OutsideMetrics) =>
  post<MetricsAccepted>(`/runs/${runId}/metrics`, results);

/** `newest`: the newest step that is known; a later one is asked for anew. */
export const distributionsQuery = (
  runId: string,
  query: Record<string, QueryValue>,
  newest: number,
) =>
  queryOptions({
    queryKey: ["run", runId, "distributions", query, newest] as const,
    queryFn: ({ signal }) =>
      request<Distributions>(`/runs/${runId}/distributions`, { signal, query }),
    // What is drawn stays until what takes its place is there; another axis tells it otherwise.
    placeholderData: (before, asked) =>
      asked?.queryKey[1] === runId && asked.queryKey[3]["x"] === query["x"] ? before : undefined,
  });

export interface AskedSamples {
  readonly kind: "rollout" | "probe";
  /** The newest where it is null; with a prompt, all steps. One without samples: the nearest. */
  readonly step: number | null;
  readonly prompt_id: string | null;
  readonly q: string;
  /** Whether all steps are searched, the newest first. */
  readonly every_step: boolean;
  readonly sort: string;
}

/** Samples with what they are the answer to: a list may stay until the next one is there. */
export type AnsweredSamples = Samples & { readonly asked: AskedSamples };

const samplesKey = (runId: string, asked: AskedSamples) =>
  ["run", runId, "samples", asked] as const;

export const samplesQuery = (runId: string, asked: AskedSamples) =>
  queryOptions({
    queryKey: samplesKey(runId, asked),
    queryFn: async ({ signal, client }): Promise<AnsweredSamples> => {
      const query = { ...asked, nearest: true };
      const samples = await request<Samples>(`/runs/${runId}/samples`, { signal, query });
      if (!isOfNewest(asked) || samples.step === null) return { ...samples, asked };
      const named = { ...asked, step: samples.step };
      const answer = { ...samples, asked: named };
      // Whoever reads on asks for the step by its number: the answer is here.
      client.setQueryData(samplesKey(runId, named), answer);
      return answer;
    },
    // The old list stays until the new one of the same run is there.
    placeholderData: (before: AnsweredSamples | undefined, query) =>
      query?.queryKey[1] === runId ? before : undefined,
    // What was newest is that no more when somebody comes back; a search has many answers.
    ...((isOfNewest(asked) || asked.every_step) && { gcTime: 0 }),
  });

/** Whether the newest step is asked for, whichever that is. */
export const isOfNewest = ({ step, prompt_id, every_step }: AskedSamples) =>
  step === null && prompt_id === null && !every_step;

export const sendToRanking = (runId: string, numbers: readonly number[]) =>
  post<Comparison>(`/runs/${runId}/samples/comparisons`, { numbers });

export const logQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "logs"],
    queryFn: ({ signal }) => everyPage<LogLine>(`/runs/${runId}/logs`, signal),
  });

/** All that comes in order, page by page: the newest are on the last one. */
async function everyPage<Item>(
  path: string,
  signal: AbortSignal,
  query: Record<string, QueryValue> = {},
  from = "0",
): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | null | undefined = from;
  while (after) {
    const place: Record<string, QueryValue> = { ...query, after, limit: 5000 };
    const page: Listing<Item> = await request(path, { signal, query: place });
    items.push(...page.items);
    after = page.next_cursor;
  }
  return items;
}

const part = <Item>(runId: string, name: string) =>
  queryOptions({
    queryKey: ["run", runId, name],
    queryFn: async ({ signal }) =>
      (await request<Listing<Item>>(`/runs/${runId}/${name}`, { signal })).items,
  });

/** What happened, without the numbers and lines that have pages of their own. */
const HISTORY_EVENTS = ["start", "state", "checkpoint", "alert", "rewind", "judged"];

const eventsOf = (runId: string, name: string, type: readonly string[]) =>
  queryOptions({
    queryKey: ["run", runId, name],
    queryFn: async ({ signal, client, queryKey }) => {
      // Events are only ever added: of a long live run not all are asked for again.
      const known = client.getQueryData<RunEvent[]>(queryKey) ?? [];
      const from = String(known.at(-1)?.seq ?? 0);
      const more = await everyPage<RunEvent>(`/runs/${runId}/events`, signal, { type }, from);
      return [...known, ...more];
    },
  });

export const eventsQuery = (runId: string) => eventsOf(runId, "events", HISTORY_EVENTS);
export const alertsQuery = (runId: string) => eventsOf(runId, "alerts", ["alert"]);
export const checkpointsQuery = (runId: string) => part<Checkpoint>(runId, "checkpoints");
export const artifactsQuery = (runId: string) => part<Artifact>(runId, "artifacts");
/** The file among a run's artifacts that holds what a run that samples was answered. */
export const ANSWERS = "responses.jsonl";
/** Null = any; `set_name` "": the prompts of the run itself. */
export interface AskedAnswers {
  readonly set_name: string | null;
  readonly model: string | null;
  readonly passed: boolean | null;
}

/** An empty text would be left out of an address, unless it stands in a list. */
export const answersQuery = (asked: AskedAnswers, cursor: string | null) => ({
  ...{ limit: 20, cursor, model: asked.model, passed: asked.passed },
  set_name: asked.set_name === null ? null : [asked.set_name],
});

/** What a run that samples was answered, in the order of the file. */
export const answerPages = (runId: string, asked: AskedAnswers) =>
  infiniteQueryOptions({
    queryKey: ["run", runId, "answers", asked],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<AnswerLine>>(`/runs/${runId}/answers/lines`, {
        signal,
        query: answersQuery(asked, pageParam),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // A run that has ended is answered no more.
    staleTime: Infinity,
  });

export const answersAddress = (runId: string) => address(`/runs/${runId}/answers`, {});
/** How many answers a rule keeps: the query of an address, such as `best=1&passed=true`. */
export const answersCountQuery = (runId: string, rule: string) =>
  queryOptions({
    queryKey: ["run", runId, "answers", rule],
    queryFn: ({ signal }) =>
      request<AnswersCount>(`/runs/${runId}/answers/count?${rule}`, { signal }),
    // What a run was answered does not change.
    staleTime: Infinity,
  });
/** Bad ends, newest first. */
export const failuresQuery = (runId: string) => part<Failure>(runId, "failures");

/** These runs, archived or not, with their values of more columns. */
export const runsByIdQuery = (runIds: readonly string[], columns = "") =>
  queryOptions({
    queryKey: ["runs", "by id", runIds, columns],
    queryFn: async ({ signal }) => {
      const query = { runs: runIds.join(","), limit: runIds.length, columns };
      return (await request<Listing<Run>>("/runs", { signal, query })).items;
    },
  });

const verdictsOf = async (runIds: readonly string[], signal: AbortSignal) => {
  const query = { runs: runIds.join(",") };
  return (await request<{ items: RunVerdict[] }>("/verdicts", { signal, query })).items;
};

/** What the metrics of a run say of it. */
export const verdictQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "verdict"],
    queryFn: async ({ signal }) => (await verdictsOf([runId], signal))[0] ?? null,
  });

/** What the metrics of several runs say of each. */
export const verdictsQuery = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["verdicts", runIds],
    queryFn: ({ signal }) => verdictsOf(runIds, signal),
  });

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

export const changeRun = (runId: string, body: RunChange) =>
  request<Run>(`/runs/${runId}`, { method: "PATCH", body });

/** All of them, or none if one is refused. */
export const changeRuns = (body: Partial<RunsChange> & Pick<RunsChange, "run_ids">) =>
  request<{ changed: string[] }>("/runs", { method: "PATCH", body });

export const applyVerb = (runId: string, verb: Verb) => post<Run>(`/runs/${runId}/${verb}`);
