/**
 * The ranking of one comparison with its history: moves, undo, the draft on disk, what a reader hears.
 * Whoever shows several comparisons mounts it anew for each, by a key.
 */
import { useEffect, useState } from "react";

import type { Assignment } from "@/api/types";
import { useNewest } from "@/lib/use-newest";

import { useKeymap } from "./keys/keymap-store";
import { draftOf, keepDraft } from "./leases/drafts";
import { labelOfKey } from "./ranking/press";
import { describe, move, type Move, type Ranking } from "./ranking/ranking";

interface RankingHistory {
  readonly ranking: Ranking;
  readonly past: readonly Ranking[];
  readonly announcement: string;
}

const MOST_PAST = 100;

export function useRanking(assignment: Assignment) {
  const [history, newest, become] = useNewest<RankingHistory>(() => ({
    ranking: draftOf(assignment),
    past: [],
    announcement: "",
  }));
  const [first] = useState(history);

  const submit = labelOfKey(useKeymap().submit);
  useEffect(() => {
    if (history !== first) keepDraft(assignment.id, history.ranking);
  }, [assignment.id, history, first]);

  const make = (action: Move) => {
    const { ranking: before, past } = newest();
    const after = move(before, action);
    if (after === before) return;
    become({
      ranking: after,
      past: [...past, before].slice(-MOST_PAST),
      announcement: describe(before, after, submit),
    });
  };
  /** False if there is nothing to undo. */
  const undo = (): boolean => {
    const { past } = newest();
    const before = past.at(-1);
    if (before === undefined) return false;
    become({ ranking: before, past: past.slice(0, -1), announcement: "Undone." });
    return true;
  };
  return {
    ranking: history.ranking,
    canUndo: history.past.length > 0,
    announcement: history.announcement,
    /** As the last move has left it, drawn or not. */
    newest: () => newest().ranking,
    make,
    undo,
  };
}
