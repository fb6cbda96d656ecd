/** The ranking on screen with its history: moves, undo, the draft on disk, what a reader hears. */
import { useEffect, useState } from "react";

import type { Assignment } from "@/api/types";

import { draftOf, keepDraft } from "./desk";
import { describe, move, type Move, type Ranking } from "./ranking/ranking";

interface Sheet {
  readonly id: string;
  readonly ranking: Ranking;
  readonly past: readonly Ranking[];
  readonly heard: string;
}

const MOST_PAST = 100;

const sheetOf = (assignment: Assignment): Sheet => ({
  id: assignment.id,
  ranking: draftOf(assignment),
  past: [],
  heard: "",
});

export function useRanking(assignment: Assignment) {
  const [kept, setSheet] = useState(() => sheetOf(assignment));
  const sheet = kept.id === assignment.id ? kept : sheetOf(assignment);
  if (sheet !== kept) setSheet(sheet);

  useEffect(() => {
    if (sheet.past.length > 0) keepDraft(sheet.id, sheet.ranking);
  }, [sheet]);

  const make = (action: Move) =>
    setSheet((now) => {
      const after = move(now.ranking, action);
      if (after === now.ranking) return now;
      const past = [...now.past, now.ranking].slice(-MOST_PAST);
      return { ...now, ranking: after, past, heard: describe(now.ranking, after) };
    });
  const undo = () =>
    setSheet((now) => {
      const before = now.past.at(-1);
      if (before === undefined) return now;
      return { ...now, ranking: before, past: now.past.slice(0, -1), heard: "Undone." };
    });
  return { ranking: sheet.ranking, canUndo: sheet.past.length > 0, heard: sheet.heard, make, undo };
}
