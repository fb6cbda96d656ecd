/** Projects, and the records a project holds. Keys: ["project", id, resource, ...filters]. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { post, Problem, request, type QueryValue } from "./client";
import type {
  Agreement,
  ComparisonsChange,
  ComparisonsChanged,
  Demonstration,
  ImportResult,
  Job,
  ListedComparison,
  ListedJudgment,
  ListedResponse,
  Listing,
  ProblemSetBody,
  Project,
  ProjectBody,
  ProjectChange,
  Prompt,
  PromptGroups,
  Snapshot,
  SnapshotBody,
  Solution,
} from "./types";

/** Of all projects; a service that never comes to an end is not asked for ever. */
const MOST_PAGES = 20;

/** All of them: long guidelines end a page before its limit. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: async ({ signal }): Promise<Listing<Project>> => {
    const items: Project[] = [];
    let cursor: string | null | undefined = "";
    for (let n = 0; n < MOST_PAGES; n += 1) {
      const query: Record<string, QueryValue> = { limit: 200, cursor };
      const page: Listing<Project> = await request("/projects", { signal, query });
      items.push(...page.items);
      cursor = page.next_cursor;
      if (!cursor) break;
    }
    return { items, next_cursor: cursor ?? null };
  },
});

export const projectQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId],
    queryFn: ({ signal }) => request<Project>(`/projects/${projectId}`, { signal }),
  });

export const createProject = (body: Partial<ProjectBody> & { name: string }) =>
  post<Project>("/projects", body);

export const changeProject = (projectId: string, change: ProjectChange) =>
  request<Project>(`/projects/${projectId}`, { method: "PATCH", body: change });

/** More judgments for comparisons that are there: of the named ones or, without names, of all. */
export const askForJudgments = (projectId: string, change: ComparisonsChange) =>
  request<ComparisonsChanged>(`/projects/${projectId}/comparisons`, {
    method: "PATCH",
    body: change,
  });

const pages = <Item>(
  projectId: string,
  resource: string,
  filter: Readonly<Record<string, boolean | string>> = {},
) =>
  infiniteQueryOptions({
    queryKey: ["project", projectId, resource, filter],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Item>>(`/projects/${projectId}/${resource}`, {
        signal,
        query: { limit: 50, cursor: pageParam, ...filter },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

export const promptPages = (projectId: string) => pages<Prompt>(projectId, "prompts");
/** Of all, or of a generate run alone. */
export const responsePages = (projectId: string, runId: string | null) =>
  pages<ListedResponse>(projectId, "responses", runId === null ? {} : { run_id: runId });
export const comparisonPages = (projectId: string) =>
  pages<ListedComparison>(projectId, "comparisons");
export const demonstrationPages = (projectId: string) =>
  pages<Demonstration>(projectId, "demonstrations");
export const solutionPages = (projectId: string) => pages<Solution>(projectId, "solutions");
export const judgmentPages = (projectId: string) => pages<ListedJudgment>(projectId, "judgments");

/** Judgments that are kept for review and do not count. */
export const reviewPages = (projectId: string) =>
  pages<ListedJudgment>(projectId, "judgments", { is_review: true });

/** How many prompts have which tags and metadata. */
export const promptCountsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "prompts", "counts"],
    queryFn: ({ signal }) =>
      request<PromptGroups>(`/projects/${projectId}/prompts/counts`, { signal }),
  });

export const snapshotsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "snapshots", "all"],
    queryFn: ({ signal }) =>
      request<Listing<Snapshot>>(`/projects/${projectId}/snapshots`, {
        signal,
        query: { limit: 500 },
      }),
  });

/** Under a criterion; null: under the project's first, if it has any. */
export const agreementQuery = (projectId: string, criterion: string | null = null) =>
  queryOptions({
    queryKey: ["project", projectId, "agreement", criterion],
    queryFn: ({ signal }) => {
      // An empty one says something, too: judgments that were given without criteria.
      const query = criterion === null ? "" : `?criterion=${encodeURIComponent(criterion)}`;
      return request<Agreement>(`/projects/${projectId}/agreement${query}`, { signal });
    },
  });

export type ImportKind = "prompts" | "demonstrations" | "comparisons" | "preferences" | "solutions";

/** Records of a set as it was published, and what its reader is told beside. */
export interface Published {
  readonly set: "gsm8k" | "math" | "aime" | "amc";
  /** Null as long as nobody has said it; a file is not taken without. */
  readonly split: "train" | "test" | null;
  /** A line after each question. */
  readonly instruction: string;
}

/** A folder, or a file that has changed since it was chosen: the browser calls that no connection. */
function refuseUnreadable(): never {
  throw new Problem(422, {
    title: "This file cannot be read",
    detail: "It is a folder, or it was changed or moved since you chose it.",
    advice: "Choose the file again.",
  });
}

export async function importFile(
  projectId: string,
  kind: ImportKind,
  format: string,
  file: Blob,
  published: Published | null = null,
): Promise<ImportResult> {
  await file.slice(0, 1).arrayBuffer().catch(refuseUnreadable);
  return request<ImportResult>(`/projects/${projectId}/imports`, {
    method: "POST",
    query: { kind, format, ...published },
    raw: { content: file, type: file.type || "application/octet-stream" },
  });
}

export const freezeSnapshot = (projectId: string, body: SnapshotBody) =>
  post<Snapshot>(`/projects/${projectId}/snapshots`, body);

/** How far a job is, is asked so often. */
const LOOK_MS = 700;
/** One that waits for others, or a service that does not answer, is looked at less often. */
const LOOK_LESS_MS = 3000;

/** The same problems, asked for twice with one key, are made once. */
export const makeProblemSet = (projectId: string, body: ProblemSetBody, idempotencyKey: string) =>
  post<Job>(`/projects/${projectId}/problem-sets`, body, { idempotencyKey, comesBack: true });

export const hasEnded = ({ state }: Job): boolean => state !== "queued" && state !== "running";

/** Looked at again until it has ended, or can no longer be seen. */
export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ["job", jobId],
    queryFn: ({ signal }) => request<Job>(`/jobs/${jobId}`, { signal }),
    refetchInterval: ({ state: { data, error } }) => {
      const isGone = error instanceof Problem && !error.isPassing;
      if (isGone || (data !== undefined && hasEnded(data))) return false;
      return error !== null || data?.state === "queued" ? LOOK_LESS_MS : LOOK_MS;
    },
  });

export const cancelJob = (jobId: string) => request<Job>(`/jobs/${jobId}`, { method: "DELETE" });
