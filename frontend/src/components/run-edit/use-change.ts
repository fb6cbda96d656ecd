/** A change of a run's name, notes or tags; every list shows it at once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { changeRun, runQuery } from "@/api/runs";
import type { RunChange } from "@/api/types";

export function useChange(runId: string, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RunChange) => changeRun(runId, body),
    onSuccess: (changed) => {
      client.setQueryData(runQuery(runId).queryKey, changed);
      void client.invalidateQueries({ queryKey: ["runs"] });
      onDone();
    },
  });
}
