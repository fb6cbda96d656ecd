/** What who is signed in may do in a project; the API refuses the rest, so no page offers it. */
import { useQuery } from "@tanstack/react-query";

import { managesIn, meQuery, ranksIn } from "@/api/session";

/** Whether they may change it: import, freeze, start and change runs, register models. */
export function useMayChange(projectId: string): boolean {
  const me = useQuery(meQuery).data;
  return me !== undefined && managesIn(me, projectId);
}

/** Whether they may rank in it. */
export function useMayRank(projectId: string): boolean {
  const me = useQuery(meQuery).data;
  return me !== undefined && ranksIn(me, projectId);
}
