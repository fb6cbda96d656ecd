/** How server state is kept and retried; a 401 anywhere makes the shell ask who is signed in. */
import { MutationCache, QueryCache, QueryClient, type Query } from "@tanstack/react-query";

import { keepErrors } from "@/api/cache/keep-errors";
import { actAs, mayAskAgain, Problem } from "@/api/client";
import { meQuery } from "@/api/session";

const LONGEST_WAIT_MS = 8000;

const isMe = (query: Pick<Query, "queryKey">) => query.queryKey[0] === meQuery.queryKey[0];

function askWhoIsSignedIn(error: unknown): void {
  if (error instanceof Problem && error.status === 401) void queryClient.invalidateQueries(meQuery);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (!isMe(query)) askWhoIsSignedIn(error);
    },
  }),
  mutationCache: new MutationCache({ onError: askWhoIsSignedIn }),
  defaultOptions: {
    queries: {
      // A browser without internet still reaches a Podium on its own machine or network; one that
      // does not must say so, and not wait in silence.
      networkMode: "always",
      staleTime: 10_000,
      retry: mayAskAgain,
      retryDelay: (failures) => Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures),
    },
    mutations: { networkMode: "always", retry: false },
  },
});

keepErrors(queryClient);
queryClient.getQueryCache().subscribe(({ query }) => {
  if (isMe(query)) actAs(queryClient.getQueryData(meQuery.queryKey)?.id ?? null);
});
