/** Rankings that are not submitted yet, by assignment: a reload or a crash moves no card back. */
import type { Assignment } from "@/api/types";
import { read, remove, write } from "@/lib/storage";

import { start, type Ranking } from "../ranking/ranking";

const isRanking = (value: unknown): value is Ranking =>
  typeof value === "object" && value !== null && "tiers" in value && "count" in value;

const draftKey = (assignmentId: string) => `podium.draft.${assignmentId}`;

export function draftOf(assignment: Assignment): Ranking {
  const fresh = start(assignment.comparison.responses.length);
  const kept = read(localStorage, draftKey(assignment.id), isRanking);
  return kept?.count === fresh.count ? { ...fresh, ...kept } : fresh;
}

export const hasDraft = (assignmentId: string): boolean =>
  read(localStorage, draftKey(assignmentId), isRanking) !== null;

export function keepDraft(assignmentId: string, ranking: Ranking): void {
  write(localStorage, draftKey(assignmentId), ranking);
}

export function dropDraft(assignmentId: string): void {
  remove(localStorage, draftKey(assignmentId));
}
