/** The saved view that a change began from: what somebody else saves meanwhile is not lost unseen. Pure. */
import type { SavedView } from "@/api/types";

export type ViewBase = Pick<SavedView, "query" | "revision">;

/** Whether somebody else has since saved other settings under this view. */
export const isOvertaken = (base: ViewBase, newest: ViewBase): boolean =>
  newest.revision > base.revision && newest.query !== base.query;

/** The revision that an update is made from; a view that was only renamed since is still the same. */
export const seenRevision = (base: ViewBase, newest: ViewBase): number =>
  newest.query === base.query ? Math.max(newest.revision, base.revision) : base.revision;
