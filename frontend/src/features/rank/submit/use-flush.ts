/** Unsent judgments are sent again as soon as the browser is back online or the tab is looked at. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { progressQuery } from "@/api/assignments";
import { ownJudgmentsKey } from "@/api/judgments";
import { whenBack } from "@/lib/when-back";

import { outbox } from "../outbox/browser-outbox";

export function useFlush(userId: string): void {
  const client = useQueryClient();
  useEffect(() => {
    outbox.onSent = ({ projectId }) => {
      void client.invalidateQueries(progressQuery(projectId));
      void client.invalidateQueries({ queryKey: ownJudgmentsKey(projectId) });
    };
    const flush = () => void outbox.flush();
    void outbox.open(userId).then(flush);
    return whenBack(flush);
  }, [client, userId]);
}
