/** The ranking on screen with its history: moves, undo, the draft on disk, what a reader hears. */
import { useEffect, useState } from "react";

import type { Assignment } from "@/api/types";

import { useKeymap } from "./keys/keymap-store";
import { draftOf, keepDraft } from "./leases/drafts";
import { labelOfKey } from "./ranking/press";
import { describe, move, type Move, type Ranking } from "./ranking/ranking";

interface RankingHistory {
  readonly id: string;
  readonly ranking: Ranking;
  readonly past: readonly Ranking[];
  readonly announcement: string;
}

const MOST_PAST = 100;

const newHistory = (assignment: Assignment): RankingHistory => ({
  id: assignment.id,
  ranking: draftOf(assignment),
  past: [],
  announcement: "",
});

export function useRanking(assignment: Assignment) {
  const [kept, setHistory] = useState(() => newHistory(assignment));
  const history = kept.id === assignment.id ? kept : newHistory(assignment);
  if (history !== kept) setHistory(history);

  const submit = labelOfKey(useKeymap().submit);
  useEffect(() => {
    if (history.past.length > 0) keepDraft(history.id, history.ranking);
  }, [history]);

  const make = (action: Move) =>
    setHistory((now) => {
      const after = move(now.ranking, action);
      if (after === now.ranking) return now;
      const past = [...now.past, now.ranking].slice(-MOST_PAST);
      return { ...now, ranking: after, past, announcement: describe(now.ranking, after, submit) };
    });
  const undo = () =>
    setHistory((now) => {
      const before = now.past.at(-1);
      if (before === undefined) return now;
      return { ...now, ranking: before, past: now.past.slice(0, -1), announcement: "Undone." };
    });
  return {
    ranking: history.ranking,
    canUndo: history.past.length > 0,
    announcement: history.announcement,
    make,
    undo,
  };
}
