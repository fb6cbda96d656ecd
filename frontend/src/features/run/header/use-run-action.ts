/** An action on a run; the page shows its result at once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { showAnswer } from "@/api/cache/show-answer";
import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";

export function useRunAction<Input>(ask: (input: Input) => Promise<Run>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ask,
    onSuccess: async (changed) => {
      await showAnswer(client, runQuery(changed.id), changed);
      void client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}
