/** The agreement of a project, asked for again whenever the number of judgments has changed. */
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { agreementQuery } from "@/api/projects";

/** A request that is still answered is not broken off: the service would cancel its job. */
async function askAgain(client: QueryClient, projectId: string) {
  const query = agreementQuery(projectId);
  const isAnswered = client.isFetching({ queryKey: query.queryKey, exact: true }) > 0;
  await client.invalidateQueries(query, { cancelRefetch: false });
  // That answer is of the judgments before.
  if (isAnswered) await client.invalidateQueries(query, { cancelRefetch: false });
}

/** `judgments`: how many there are; undefined = not known yet. */
export function useAgreement(projectId: string, judgments: number | undefined) {
  const client = useQueryClient();
  const known = useRef<{ projectId: string; judgments: number }>(undefined);
  useEffect(() => {
    if (judgments === undefined) return;
    const before = known.current;
    known.current = { projectId, judgments };
    const isOther = before?.projectId === projectId && before.judgments !== judgments;
    if (isOther) void askAgain(client, projectId);
  }, [client, projectId, judgments]);
  return useQuery(agreementQuery(projectId));
}
