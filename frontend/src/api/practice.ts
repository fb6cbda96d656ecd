/** Practice before the first comparison that counts. Keys: ["project", id, "practice", ...]. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type {
  JudgmentBody,
  Listing,
  PracticeBody,
  PracticeComparison,
  PracticeFeedback,
  PracticeState,
} from "./types";

/** How far whoever is signed in is. */
export const practiceQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "practice"],
    queryFn: ({ signal }) => request<PracticeState>(`/projects/${projectId}/practice`, { signal }),
  });

export const answerPractice = (projectId: string, comparisonId: string, body: JudgmentBody) =>
  post<PracticeFeedback>(`/projects/${projectId}/practice/${comparisonId}/answer`, body);

export const tryPracticeAgain = (projectId: string) =>
  post<PracticeState>(`/projects/${projectId}/practice/attempt`);

/** With what is expected: for who leads the project. */
export const practiceComparisonsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "practice", "comparisons"],
    queryFn: ({ signal }) =>
      request<Listing<PracticeComparison>>(`/projects/${projectId}/practice/comparisons`, {
        signal,
      }),
  });

export const addToPractice = (projectId: string, comparisonId: string, body: PracticeBody) =>
  request<PracticeComparison>(`/projects/${projectId}/practice/comparisons/${comparisonId}`, {
    method: "PUT",
    body,
  });

export const explainPractice = (projectId: string, comparisonId: string, explanation: string) =>
  request<PracticeComparison>(`/projects/${projectId}/practice/comparisons/${comparisonId}`, {
    method: "PATCH",
    body: { explanation },
  });

export const removeFromPractice = (projectId: string, comparisonId: string) =>
  request<null>(`/projects/${projectId}/practice/comparisons/${comparisonId}`, {
    method: "DELETE",
  });
