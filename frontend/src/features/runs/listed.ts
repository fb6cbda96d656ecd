/** The runs of several pages of a list; pure. */
import type { Run } from "@/api/types";

/**
 * Each run once, where it stood first, as the newest page has it: one that moves back in the order
 * between two pages stands in both.
 */
export const listedOnce = (pages: readonly (readonly Run[])[]): readonly Run[] => [
  ...new Map(pages.flat().map((run) => [run.id, run])).values(),
];
