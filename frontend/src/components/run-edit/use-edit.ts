/** An edit of a run's name, tags or notes: nobody's change is overwritten unseen. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { isConflict } from "@/api/client";
import { changeRun, runQuery } from "@/api/runs";
import type { Run, RunChange } from "@/api/types";
import { useSending } from "@/components/form/use-sending";

import { changedFields, changeOf, clashingFields, sentValues, valuesOf, type Typed } from "./typed";

/** `run` is the newest; the form began with what stood there when it was opened. */
export function useEdit(run: Run, typed: Typed, onClose: () => void) {
  const client = useQueryClient();
  const newest = valuesOf(run);
  const [seen, setSeen] = useState(newest);
  const latest = useRef(typed);
  useEffect(() => {
    latest.current = typed;
  });
  const readAgain = () => client.invalidateQueries({ queryKey: ["runs"] });
  const asked = useSending(
    `The change of the run “${run.name}” was not saved.`,
    {
      mutationFn: (change: RunChange) => changeRun(run.id, change),
      onSuccess: async (changed) => {
        await showAnswer(client, runQuery(changed.id), changed);
        return readAgain();
      },
      onError: (error) =>
        isConflict(error)
          ? Promise.all([readAgain(), client.invalidateQueries(runQuery(run.id))])
          : undefined,
    },
    (changed, sent) => {
      const now = valuesOf(changed);
      // What was typed while it was sent stays, and is not saved yet. Compared with what was sent,
      // which the service may write otherwise.
      if (changedFields(latest.current, { ...now, ...sentValues(sent) }).length === 0) onClose();
      else setSeen(now);
    },
  );
  const clashing = clashingFields(typed, seen, newest);
  return {
    asked,
    newest,
    clashing,
    /** The note about both changes says it already. */
    isRefused: asked.error !== null && !(isConflict(asked.error) && clashing.length > 0),
    save: () => {
      if (asked.isPending) return;
      if (changedFields(typed, seen).length === 0) onClose();
      else asked.mutate(changeOf(typed, seen, newest));
    },
  };
}
