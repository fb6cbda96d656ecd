/** Comparisons taken for work offline, with their texts: they survive the end of the browser. */
import type { Assignment } from "@/api/types";
import { browserDatabase } from "@/lib/database";

import { endOf } from "./joined";

interface OfflineLease {
  readonly id: string;
  readonly userId: string;
  readonly projectId: string;
  readonly assignment: Assignment;
}

const isLease = (value: unknown): value is OfflineLease =>
  typeof value === "object" && value !== null && "assignment" in value && "projectId" in value;

export async function offlineLeases(projectId: string, userId: string): Promise<Assignment[]> {
  const kept = await browserDatabase.of("leases", userId).catch((): unknown[] => []);
  return kept
    .filter(isLease)
    .filter((lease) => lease.projectId === projectId)
    .map((lease) => lease.assignment)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Rejected where the browser cannot keep it: then it is no lease for work offline. */
export function keepOffline(
  projectId: string,
  userId: string,
  assignment: Assignment,
): Promise<void> {
  const lease: OfflineLease = { id: assignment.id, userId, projectId, assignment };
  return browserDatabase.put("leases", lease);
}

export async function dropOffline(assignmentId: string): Promise<void> {
  await browserDatabase.remove("leases", assignmentId).catch(() => undefined);
}

/** Keeps a lease on the same comparison that was taken offline since, here or in another tab. */
export async function dropEnded(assignmentId: string, end: number): Promise<void> {
  const ended = (before: unknown) => {
    const isNewer = isLease(before) && endOf(before.assignment) > end;
    return { after: isNewer ? before : undefined, result: undefined };
  };
  await browserDatabase.change("leases", assignmentId, ended).catch(() => undefined);
}
