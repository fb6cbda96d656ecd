/** The agreement of a project, asked for again whenever the number of judgments has changed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { agreementQuery } from "@/api/projects";

/** `judgments`: how many there are; undefined = not known yet. */
export function useAgreement(projectId: string, judgments: number | undefined) {
  const client = useQueryClient();
  const known = useRef<{ projectId: string; judgments: number }>(undefined);
  useEffect(() => {
    if (judgments === undefined) return;
    const before = known.current;
    known.current = { projectId, judgments };
    const isOther = before?.projectId === projectId && before.judgments !== judgments;
    // A request that is still answered is not broken off: the service would cancel its job.
    if (isOther) void client.invalidateQueries(agreementQuery(projectId), { cancelRefetch: false });
  }, [client, projectId, judgments]);
  return useQuery(agreementQuery(projectId));
}
