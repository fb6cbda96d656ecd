/** The agreement of a project, asked for again when the number of judgments has changed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { agreementQuery } from "@/api/projects";

/**
 * For each number of judgments the service reads all of them anew: while people judge, and this
 * page is open, it would do nothing else. So it rests for so many times as long as it took.
 */
const RESTS = 20;
const LONGEST_REST_MS = 300_000;

/** `judgments`: how many there are; undefined = not known yet. */
export function useAgreement(projectId: string, judgments: number | undefined) {
  const client = useQueryClient();
  /** How many there were when the agreement was last asked for. */
  const asked = useRef<{ projectId: string; judgments: number }>(undefined);
  const query = useQuery(agreementQuery(projectId));
  const { isFetching } = query;
  const answeredAt = Math.max(query.dataUpdatedAt, query.errorUpdatedAt);
  const askedAt = useRef<number>(undefined);
  useEffect(() => {
    if (isFetching) askedAt.current = Date.now();
  }, [isFetching]);
  useEffect(() => {
    if (judgments === undefined) return;
    const now = { projectId, judgments };
    if (asked.current?.projectId !== projectId) asked.current = now;
    // A request that is still answered is not broken off: the service would cancel its job.
    if (asked.current.judgments === judgments || isFetching) return;
    const tookMs = answeredAt - (askedAt.current ?? answeredAt);
    const again = setTimeout(
      () => {
        asked.current = now;
        void client.invalidateQueries({ ...agreementQuery(projectId), exact: true });
      },
      answeredAt + Math.min(LONGEST_REST_MS, RESTS * tookMs) - Date.now(),
    );
    return () => clearTimeout(again);
  }, [client, projectId, judgments, isFetching, answeredAt]);
  return query;
}
