/** Something asked of a run; the page shows its answer at once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";

export function useChange<Wish>(runId: string, ask: (wish: Wish) => Promise<Run>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ask,
    onSuccess: (changed) => {
      client.setQueryData(runQuery(runId).queryKey, changed);
      void client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}
