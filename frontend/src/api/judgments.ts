/** One's own judgments with the texts that were judged; how everybody ranked a prompt. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { JudgmentCounts, Listing, OwnJudgment, PromptRankings, SkipCount } from "./types";

const PAGE = 20;

export const ownJudgmentsKey = (projectId: string) =>
  ["project", projectId, "judgments", "own"] as const;

const ownJudgments = (
  projectId: string,
  query: Record<string, string | number | null>,
  signal: AbortSignal,
) => request<Listing<OwnJudgment>>(`/projects/${projectId}/judgments/own`, { signal, query });

/** The newest first; `words` of the prompt, of a response or of the note, "" = all. */
export const ownJudgmentPages = (projectId: string, words: string) =>
  infiniteQueryOptions({
    queryKey: [...ownJudgmentsKey(projectId), "pages", words],
    queryFn: ({ pageParam, signal }) =>
      ownJudgments(projectId, { limit: PAGE, cursor: pageParam, q: words || null }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

/** How many judgments count, by criterion, and how many are kept for review. */
export const judgmentCountsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "judgments", "counts"],
    queryFn: ({ signal }) =>
      request<JudgmentCounts>(`/projects/${projectId}/judgments/counts`, { signal }),
  });

/** Why annotators passed comparisons on. */
export const skipsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "skips"],
    queryFn: ({ signal }) =>
      request<Listing<SkipCount>>(`/projects/${projectId}/skips`, { signal }),
  });

/** What somebody said of one comparison: the judgment that counts, else the one kept for review. */
export const ownJudgmentQuery = (projectId: string, assignmentId: string) =>
  queryOptions({
    queryKey: [...ownJudgmentsKey(projectId), "of", assignmentId],
    queryFn: async ({ signal }) => {
      const found = await ownJudgments(projectId, { assignment_id: assignmentId }, signal);
      return found.items.find((one) => one.review_reason === null) ?? found.items[0] ?? null;
    },
    // What is revised stays as it is while somebody revises it.
    staleTime: Infinity,
    gcTime: 0,
  });

/** One comparison, and who ranked it how. */
export const rankedComparisonQuery = (projectId: string, comparisonId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "rankings", "comparison", comparisonId],
    queryFn: ({ signal }) =>
      request<PromptRankings>(`/projects/${projectId}/rankings`, {
        signal,
        query: { comparison_id: comparisonId },
      }),
  });

/** The newest comparisons of a prompt, and who ranked them how. */
export const rankingsQuery = (projectId: string, promptId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "rankings", promptId],
    queryFn: ({ signal }) =>
      request<PromptRankings>(`/projects/${projectId}/rankings`, {
        signal,
        query: { prompt_id: promptId },
      }),
  });
