/** The agreement of a project, asked for again when the number of judgments has changed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { agreementQuery } from "@/api/projects";

/**
 * For each number of judgments the service reads all of them anew: while people judge, and this
 * page is open, it would do nothing else.
 */
const LEAST_BETWEEN_MS = 300_000;

/** `judgments`: how many there are; undefined = not known yet. */
export function useAgreement(projectId: string, judgments: number | undefined) {
  const client = useQueryClient();
  /** How many there were when the agreement was last asked for. */
  const asked = useRef<{ projectId: string; judgments: number }>(undefined);
  const query = useQuery(agreementQuery(projectId));
  const { isFetching } = query;
  const answeredAt = Math.max(query.dataUpdatedAt, query.errorUpdatedAt);
  useEffect(() => {
    if (judgments === undefined) return;
    const now = { projectId, judgments };
    if (asked.current?.projectId !== projectId) asked.current = now;
    // A request that is still answered is not broken off: the service would cancel its job.
    if (asked.current.judgments === judgments || isFetching) return;
    const again = setTimeout(
      () => {
        asked.current = now;
        void client.invalidateQueries({ ...agreementQuery(projectId), exact: true });
      },
      answeredAt + LEAST_BETWEEN_MS - Date.now(),
    );
    return () => clearTimeout(again);
  }, [client, projectId, judgments, isFetching, answeredAt]);
  return query;
}
