/**
 * The comparisons at hand: the one on screen and the next two, fetched before they are needed.
 *
 * Leases are remembered for this tab, so a reload shows the same comparison again; the server gives
 * lost ones back first. Drafts are kept per assignment, so no placed card is lost.
 */
import { useCallback, useEffect, useRef, useState } from "react";

import { takeAssignment } from "@/api/assignments";
import type { Assignment } from "@/api/types";
import { read, remove, write } from "@/lib/storage";

import { outbox } from "./outbox/outbox";
import { start, type Ranking } from "./ranking/ranking";

const PREFETCHED = 3;
const EXPIRY_MARGIN_MS = 20_000;

const isAssignments = (value: unknown): value is Assignment[] => Array.isArray(value);
const isRanking = (value: unknown): value is Ranking =>
  typeof value === "object" && value !== null && "tiers" in value && "count" in value;

/** Of one person: who signs in next in this tab holds none of these leases. */
const leasedKey = (projectId: string, userId: string) => `podium.held.${projectId}.${userId}`;
const draftKey = (assignmentId: string) => `podium.draft.${assignmentId}`;

export function draftOf(assignment: Assignment): Ranking {
  const fresh = start(assignment.comparison.responses.length);
  const kept = read(localStorage, draftKey(assignment.id), isRanking);
  return kept?.count === fresh.count ? { ...fresh, ...kept } : fresh;
}

export function keepDraft(assignmentId: string, ranking: Ranking): void {
  write(localStorage, draftKey(assignmentId), ranking);
}

export function dropDraft(assignmentId: string): void {
  remove(localStorage, draftKey(assignmentId));
}

function remembered(key: string): Assignment[] {
  const leased = read(sessionStorage, key, isAssignments) ?? [];
  const judged = new Set(outbox.all.map((item) => item.assignmentId));
  const soon = Date.now() + EXPIRY_MARGIN_MS;
  return leased.filter((one) => Date.parse(one.expires_at) > soon && !judged.has(one.id));
}

export interface AssignmentQueue {
  readonly current: Assignment | undefined;
  readonly isLoading: boolean;
  /** Nothing is left for this annotator. */
  readonly isExhausted: boolean;
  readonly error: unknown;
  readonly advance: () => void;
  readonly reopen: (assignment: Assignment) => void;
  readonly retry: () => void;
}

export function useAssignmentQueue(projectId: string, userId: string): AssignmentQueue {
  const key = leasedKey(projectId, userId);
  const [leased, setLeased] = useState(() => remembered(key));
  const [isExhausted, setExhausted] = useState(false);
  const isFetching = useRef(false);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    write(sessionStorage, key, leased);
  }, [key, leased]);

  useEffect(() => {
    if (leased.length >= PREFETCHED || isExhausted || error !== null || isFetching.current) return;
    isFetching.current = true;
    const unsent = outbox.all.map((item) => item.assignmentId);
    takeAssignment(projectId, [...leased.map((one) => one.id), ...unsent])
      .then((next) => {
        isFetching.current = false;
        if (next === null) setExhausted(true);
        else setLeased((now) => (now.some((one) => one.id === next.id) ? now : [...now, next]));
      })
      .catch((problem: unknown) => {
        isFetching.current = false;
        setError(problem);
      });
  }, [projectId, leased, isExhausted, error]);

  const advance = useCallback(() => {
    setLeased((now) => now.slice(1));
  }, []);
  const reopen = useCallback((assignment: Assignment) => {
    setLeased((now) => [assignment, ...now.filter((one) => one.id !== assignment.id)]);
  }, []);
  const retry = useCallback(() => {
    setError(null);
    setExhausted(false);
  }, []);
  return {
    current: leased[0],
    isLoading: leased.length === 0 && error === null && !isExhausted,
    isExhausted: leased.length === 0 && isExhausted,
    error: leased.length === 0 ? error : null,
    advance,
    reopen,
    retry,
  };
}
