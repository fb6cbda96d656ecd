/** A change of a run's name, notes or tags; every list shows it at once. */
import { useQueryClient } from "@tanstack/react-query";

import { changeRun, runQuery } from "@/api/runs";
import type { RunChange } from "@/api/types";
import { useSending } from "@/lib/use-sending";

/** `onDone`: unless who asked has closed its form since. */
export function useChange(runId: string, onDone: () => void) {
  const client = useQueryClient();
  return useSending(
    {
      mutationFn: (body: RunChange) => changeRun(runId, body),
      onSuccess: (changed) => {
        client.setQueryData(runQuery(changed.id).queryKey, changed);
        void client.invalidateQueries({ queryKey: ["runs"] });
      },
    },
    onDone,
  );
}
