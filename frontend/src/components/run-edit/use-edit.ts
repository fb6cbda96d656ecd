/** An edit of a run's name, tags or notes: nobody's change is overwritten unseen. */
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { showInLists } from "@/api/cache/show-in-lists";
import { isConflict, mayAskAgain } from "@/api/client";
import { changeRun, runQuery } from "@/api/runs";
import type { Run, RunChange } from "@/api/types";
import { useSending } from "@/components/form/use-sending";

import {
  changedFields,
  changeOf,
  clashingFields,
  FIELDS,
  fieldsOf,
  sentValues,
  valuesOf,
  type Typed,
} from "./typed";

/** What somebody else has changed, here and in the lists. */
async function readAgain(client: QueryClient, runId: string): Promise<void> {
  const query = { ...runQuery(runId), staleTime: 0, retry: mayAskAgain };
  // One that is on its way may have been read before the change.
  await client.cancelQueries({ queryKey: query.queryKey, exact: true });
  await showInLists(client, await client.fetchQuery(query), FIELDS);
}

/** `run` is the newest; the form began with what stood there when it was opened. */
export function useEdit(run: Run, typed: Typed, onClose: () => void) {
  const client = useQueryClient();
  const newest = valuesOf(run);
  const [seen, setSeen] = useState(newest);
  const latest = useRef(typed);
  useEffect(() => {
    latest.current = typed;
  });
  const asked = useSending(
    `The change of the run “${run.name}” was not saved.`,
    {
      mutationFn: (change: RunChange) => changeRun(run.id, change),
      onSuccess: async (changed, sent) => {
        await showAnswer(client, runQuery(changed.id), changed);
        return showInLists(client, changed, fieldsOf(sentValues(sent)));
      },
      onError: (error) =>
        isConflict(error)
          ? readAgain(client, run.id).catch(() => client.invalidateQueries({ queryKey: ["runs"] }))
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
