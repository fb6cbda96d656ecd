/** Skips by reason, the most frequent first, and in words by whom. Pure. */
import type { SkipCount } from "@/api/types";
import { number, plural } from "@/lib/format";

export interface SkipsOfReason {
  readonly reason: string;
  readonly comparisons: number;
  /** "Ada 12, Ben 3"; how many annotators, for whoever may not see their names. */
  readonly by: string;
}

export function byReason(counts: readonly SkipCount[]): SkipsOfReason[] {
  const found = new Map<string, SkipCount[]>();
  for (const one of counts) found.set(one.reason, [...(found.get(one.reason) ?? []), one]);
  return [...found]
    .map(([reason, own]) => ({
      reason,
      comparisons: own.reduce((sum, one) => sum + one.comparisons, 0),
      by: wordsOf(own),
    }))
    .sort((one, other) => other.comparisons - one.comparisons);
}

function wordsOf(own: readonly SkipCount[]): string {
  if (own.some(({ by }) => by === null)) return plural(own.length, "annotator");
  return own
    .toSorted((one, other) => other.comparisons - one.comparisons)
    .map(({ by, comparisons }) => `${by ?? ""} ${number(comparisons)}`)
    .join(", ");
}
