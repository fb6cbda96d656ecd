/**
 * The ranking of one comparison with its history: moves, undo, the draft on disk, what a reader hears.
 * Whoever shows several comparisons mounts it anew for each, by a key.
 */
import { useEffect, useState } from "react";

import type { Assignment } from "@/api/types";
import { useNewest } from "@/lib/use-newest";

import { useKeyLabels } from "./keys/labels";
import { draftOf, keepDraft } from "./leases/drafts";
import { describe, move, type Move, type Ranking } from "./ranking/ranking";

interface Announced {
  readonly text: string;
  /** How many there were before it. */
  readonly nth: number;
}

interface RankingHistory {
  readonly ranking: Ranking;
  readonly past: readonly Ranking[];
}

const MOST_PAST = 100;

export function useRanking(assignment: Assignment) {
  const [history, newest, become] = useNewest<RankingHistory>(() => ({
    ranking: draftOf(assignment),
    past: [],
  }));
  const [first] = useState(history);
  const [announced, announce] = useState<Announced>({ text: "", nth: 0 });

  const submit = useKeyLabels()("submit");
  useEffect(() => {
    if (history !== first) keepDraft(assignment.id, history.ranking);
  }, [assignment.id, history, first]);

  const say = (text: string) => announce(({ nth }) => ({ text, nth: nth + 1 }));
  const make = (action: Move) => {
    const { ranking: before, past } = newest();
    const after = move(before, action);
    if (after === before) return;
    become({
      ranking: after,
      past: [...past, before].slice(-MOST_PAST),
    });
    say(describe(before, after, submit));
  };
  /** False if there is nothing to undo. */
  const undo = (): boolean => {
    const { ranking: now, past } = newest();
    const before = past.at(-1);
    if (before === undefined) return false;
    become({ ranking: before, past: past.slice(0, -1) });
    say(`Undone. ${describe(now, before, submit)}`.trim());
    return true;
  };
  return {
    ranking: history.ranking,
    canUndo: history.past.length > 0,
    announced,
    /** As the last move has left it, drawn or not. */
    newest: () => newest().ranking,
    make,
    say,
    undo,
  };
}
