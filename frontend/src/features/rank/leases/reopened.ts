/**
 * The comparison that this tab has judged and shows again: what is sent replaces that judgment.
 *
 * One for each project and person, since a tab goes from one to the other. Survives a reload: it must
 * not come as a second judgment. It has no lease any more.
 */
import { isText, read, remove, write } from "@/lib/storage";

const keyOf = (projectId: string, userId: string) => `podium.reopened.${projectId}.${userId}`;

export const reopenedId = (projectId: string, userId: string): string | null =>
  read(sessionStorage, keyOf(projectId, userId), isText);

export function keepReopened(projectId: string, userId: string, assignmentId: string | null): void {
  const key = keyOf(projectId, userId);
  if (assignmentId === null) remove(sessionStorage, key);
  else write(sessionStorage, key, assignmentId);
}
