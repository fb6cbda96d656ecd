/** The agreement of a project, asked for again whenever the number of judgments has changed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { agreementQuery } from "@/api/projects";

/** `judgments`: how many there are; undefined = not known yet. */
export function useAgreement(projectId: string, judgments: number | undefined) {
  const client = useQueryClient();
  const known = useRef(judgments);
  useEffect(() => {
    const isOther = known.current !== undefined && known.current !== judgments;
    known.current = judgments;
    if (isOther) void client.invalidateQueries(agreementQuery(projectId));
  }, [client, projectId, judgments]);
  return useQuery(agreementQuery(projectId));
}
