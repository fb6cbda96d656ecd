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
      staleTime: 10_000,
      retry: (count, error) => error instanceof Problem && error.isPassing && count < 2,
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { retry: false },
  },
});
