/** Rankings that are not submitted yet, by assignment: a reload or a crash moves no card back. */
import type { Assignment } from "@/api/types";
import { read, remove, write } from "@/lib/storage";

import { completed, start, type Ranking } from "../ranking/ranking";

const isRanking = (value: unknown): value is Ranking =>
  typeof value === "object" && value !== null && "tiers" in value && "count" in value;

const draftKey = (assignmentId: string) => `podium.draft.${assignmentId}`;

/** What a comparison is ranked by; browsers may hold leases from before there were criteria. */
const criteriaOf = ({ criteria }: Partial<Assignment>) => criteria ?? [];

const names = ({ criteria }: Partial<Ranking>) =>
  criteria?.map(({ name }) => name).join("\n") ?? "";

export function draftOf(assignment: Assignment): Ranking {
  const fresh = start(assignment.comparison.responses.length, criteriaOf(assignment));
  const kept = read(localStorage, draftKey(assignment.id), isRanking);
  const fits = kept?.count === fresh.count && names(kept) === names(fresh);
  return fits ? completed({ ...fresh, ...kept }) : fresh;
}

export const hasDraft = (assignmentId: string): boolean =>
  read(localStorage, draftKey(assignmentId), isRanking) !== null;

export function keepDraft(assignmentId: string, ranking: Ranking): void {
  write(localStorage, draftKey(assignmentId), ranking);
}

export function dropDraft(assignmentId: string): void {
  remove(localStorage, draftKey(assignmentId));
}
