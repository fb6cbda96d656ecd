/**
 * The comparison that this tab has judged and shows again: what is sent replaces that judgment.
 *
 * Survives a reload: it must not come as a second judgment. It has no lease any more.
 */
import { isText, read, remove, write } from "@/lib/storage";

const KEY = "podium.reopened";

export const reopenedId = (): string | null => read(sessionStorage, KEY, isText);

export function keepReopened(assignmentId: string | null): void {
  if (assignmentId === null) remove(sessionStorage, KEY);
  else write(sessionStorage, KEY, assignmentId);
}
