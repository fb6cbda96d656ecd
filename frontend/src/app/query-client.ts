/** How server state is kept and retried; a 401 anywhere makes the shell ask who is signed in. */
import { QueryCache, QueryClient } from "@tanstack/react-query";

import { Problem } from "@/api/client";
import { meQuery } from "@/api/session";

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      const isMe = query.queryKey[0] === meQuery.queryKey[0];
      if (error instanceof Problem && error.status === 401 && !isMe)
        void queryClient.invalidateQueries(meQuery);
    },
  }),
  defaultOptions: {
    queries: {
      // A browser without internet still reaches a Podium on its own machine or network; one that
      // does not must say so, and not wait in silence.
      networkMode: "always",
      staleTime: 10_000,
      retry: (count, error) => error instanceof Problem && error.isPassing && count < 2,
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { networkMode: "always", retry: false },
  },
});
