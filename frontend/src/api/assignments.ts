/** Leases on comparisons and the judgments that answer them. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { AnnotationProgress, Assignment, Judgment, JudgmentBody } from "./types";

/** `held` are the leases at hand: lost ones come back first. Null when nothing is left. */
export const takeAssignment = (projectId: string, held: readonly string[]) =>
  post<Assignment | null>(`/projects/${projectId}/assignments`, { held });

export const renewAssignment = (assignmentId: string) =>
  post<Assignment>(`/assignments/${assignmentId}/renew`);

export const skipAssignment = (assignmentId: string, reason: string) =>
  post<unknown>(`/assignments/${assignmentId}/skip`, { reason });

export const sendJudgment = (assignmentId: string, body: JudgmentBody, idempotencyKey: string) =>
  post<Judgment>(`/assignments/${assignmentId}/judgment`, body, { idempotencyKey });

export const progressQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "annotation-progress"],
    queryFn: ({ signal }) =>
      request<AnnotationProgress>(`/projects/${projectId}/annotation`, { signal }),
  });
