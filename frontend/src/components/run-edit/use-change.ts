/** A change of a run's name, notes or tags; every list shows it at once. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { changeRun, runQuery } from "@/api/runs";
import { meQuery, roleIn } from "@/api/session";
import type { RunChange } from "@/api/types";

/** Whether who is signed in may change the runs of a project. */
export function useMayChange(projectId: string): boolean {
  const me = useQuery(meQuery).data;
  const role = me === undefined ? null : roleIn(me, projectId);
  return role === "admin" || role === "researcher";
}

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
