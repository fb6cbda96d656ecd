/** Leases on comparisons and the judgments that answer them. */
import { queryOptions } from "@tanstack/react-query";

import { dayStart } from "@/lib/format";

import { post, request } from "./client";
import type { AnnotationProgress, Assignment, Judgment, JudgmentBody } from "./types";

const LONGEST_SEND_MS = 60_000;

/**
 * `held` are the leases at hand: lost ones come back first. Null when nothing is left. Whoever waits for
 * it asks for nothing else, so a server that does not answer has failed after a minute.
 */
export const takeAssignment = (projectId: string, held: readonly string[], offline = false) =>
  post<Assignment | null>(
    `/projects/${projectId}/assignments`,
    { held, offline },
    { signal: AbortSignal.timeout(LONGEST_SEND_MS) },
  );

export const renewAssignment = (assignmentId: string) =>
  post<Assignment>(`/assignments/${assignmentId}/renew`);

/** Gives leases back, also from a page that is being closed. */
export const releaseAssignments = (projectId: string, leases: readonly Assignment[]) =>
  post<null>(
    `/projects/${projectId}/assignments/release`,
    { leases: leases.map(({ id, expires_at }) => ({ assignment_id: id, expires_at })) },
    { outlivesPage: true },
  );

export const sendSkip = (assignmentId: string, reason: string) =>
  post<null>(
    `/assignments/${assignmentId}/skip`,
    { reason },
    { signal: AbortSignal.timeout(LONGEST_SEND_MS) },
  );

/** From a page that is being closed; skipping twice does what skipping once does. */
export function sendLastSkip(assignmentId: string, reason: string): void {
  const options = { outlivesPage: true };
  post<null>(`/assignments/${assignmentId}/skip`, { reason }, options).catch(() => undefined);
}

export const sendJudgment = (assignmentId: string, body: JudgmentBody, idempotencyKey: string) =>
  post<Judgment>(`/assignments/${assignmentId}/judgment`, body, {
    idempotencyKey,
    // Others of this browser wait while one is sent.
    signal: AbortSignal.timeout(LONGEST_SEND_MS),
  });

/** From a page that is being closed: whoever keeps it sends it again with the same key. */
export function sendLastJudgment(id: string, body: JudgmentBody, idempotencyKey: string): void {
  const options = { idempotencyKey, outlivesPage: true };
  post<Judgment>(`/assignments/${id}/judgment`, body, options).catch(() => undefined);
}

export const progressQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "annotation-progress"],
    queryFn: ({ signal }) =>
      request<AnnotationProgress>(`/projects/${projectId}/annotation`, {
        signal,
        query: { day_start: dayStart(Date.now()) },
      }),
  });
