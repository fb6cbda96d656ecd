/** What an annotator is told who gets no comparison: never that all is done while it is not. */
import type { AnnotationProgress } from "@/api/types";
import { plural } from "@/lib/format";

import { countOf, holdsLease, type Unsent } from "../outbox/unsent-item";

export interface WaitedFor {
  readonly title: string;
  readonly lines: readonly string[];
  /** The project has no comparison at all. */
  readonly isUnused: boolean;
  readonly isDone: boolean;
  /** Comparisons that are this annotator's own, but not in this tab. */
  readonly elsewhere: number;
}

const LISTENS =
  "While this page is visible, it shows the next comparison as soon as there is one for you. After five minutes without a key, tap or pointer move it stops looking until you come back.";
const HAS_STOPPED =
  "This page has stopped looking, because there was no key, tap or pointer move for five minutes. Press a key, tap or move the pointer: it looks again.";

const isOrAre = (count: number) => (count === 1 ? "is" : "are");

/**
 * `unsent`: what this annotator has said and the server does not have yet; `isListening`: whether
 * the page goes on by itself, which it does only while somebody is there.
 */
export function waitedFor(
  progress: AnnotationProgress,
  unsent: readonly Unsent[],
  isListening: boolean,
): WaitedFor {
  const next = isListening ? LISTENS : HAS_STOPPED;
  const { open, passed, held_by_others: others, wanted } = progress;
  const isDone = wanted > 0 && open === 0 && unsent.length === 0;
  const told = { isUnused: wanted === 0, isDone, elsewhere: 0 };
  if (told.isUnused) return { ...told, title: "There is nothing to rank yet", lines: [next] };
  if (told.isDone) {
    const lines = ["Every comparison has the judgments that it needs.", next];
    return { ...told, title: "All done: no comparison is left", lines };
  }
  const elsewhere = Math.max(0, progress.held - unsent.filter(holdsLease).length);
  const lines = [
    unsent.length > 0 && `${countOf(unsent)} of yours ${isOrAre(unsent.length)} not sent yet.`,
    others > 0 &&
      `${plural(others, "comparison")} ${isOrAre(others)} with other annotators; what they do not judge comes back.`,
    elsewhere > 0 &&
      `You hold ${plural(elsewhere, "comparison")} in another tab or on another device: rank there or, if you no longer can, take ${elsewhere === 1 ? "it" : "them"} offline here.`,
    passed > 0 &&
      `${plural(passed, "comparison")} that you have judged or skipped ${passed === 1 ? "needs" : "need"} another annotator.`,
    next,
  ].filter((line) => line !== false);
  return { ...told, elsewhere, title: "Nothing for you right now", lines };
}
