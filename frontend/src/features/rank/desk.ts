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

const AT_HAND = 3;
const SPARE_MS = 20_000;

const isAssignments = (value: unknown): value is Assignment[] => Array.isArray(value);
const isRanking = (value: unknown): value is Ranking =>
  typeof value === "object" && value !== null && "tiers" in value && "count" in value;

const heldKey = (projectId: string) => `podium.held.${projectId}`;
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

function remembered(projectId: string): Assignment[] {
  const held = read(sessionStorage, heldKey(projectId), isAssignments) ?? [];
  const answered = new Set(outbox.all.map((item) => item.assignmentId));
  const soon = Date.now() + SPARE_MS;
  return held.filter((one) => Date.parse(one.expires_at) > soon && !answered.has(one.id));
}

export interface Desk {
  readonly current: Assignment | undefined;
  readonly isLoading: boolean;
  /** Nothing is left for this annotator. */
  readonly isDone: boolean;
  readonly error: unknown;
  readonly advance: () => void;
  readonly putBack: (assignment: Assignment) => void;
  readonly retry: () => void;
}

export function useDesk(projectId: string): Desk {
  const [held, setHeld] = useState(() => remembered(projectId));
  const [isDone, setDone] = useState(false);
  const isAsking = useRef(false);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    write(sessionStorage, heldKey(projectId), held);
  }, [projectId, held]);

  useEffect(() => {
    if (held.length >= AT_HAND || isDone || error !== null || isAsking.current) return;
    isAsking.current = true;
    const unsent = outbox.all.map((item) => item.assignmentId);
    takeAssignment(projectId, [...held.map((one) => one.id), ...unsent])
      .then((next) => {
        isAsking.current = false;
        if (next === null) setDone(true);
        else setHeld((now) => (now.some((one) => one.id === next.id) ? now : [...now, next]));
      })
      .catch((problem: unknown) => {
        isAsking.current = false;
        setError(problem);
      });
  }, [projectId, held, isDone, error]);

  const advance = useCallback(() => {
    setHeld((now) => now.slice(1));
  }, []);
  const putBack = useCallback((assignment: Assignment) => {
    setHeld((now) => [assignment, ...now.filter((one) => one.id !== assignment.id)]);
  }, []);
  const retry = useCallback(() => {
    setError(null);
    setDone(false);
  }, []);
  return {
    current: held[0],
    isLoading: held.length === 0 && error === null && !isDone,
    isDone: held.length === 0 && isDone,
    error: held.length === 0 ? error : null,
    advance,
    putBack,
    retry,
  };
}
