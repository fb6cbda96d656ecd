/** What a change was answered with, where a query shows it. */
import type { DataTag, QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Puts the answer into the query. An answer on its way may have been read before the change and would
 * overwrite it: it is dropped, and asked for again, as it may also have brought something newer.
 */
export async function showAnswer<Data>(
  client: QueryClient,
  { queryKey }: { readonly queryKey: DataTag<QueryKey, Data, Error> },
  answer: NoInfer<Data>,
): Promise<void> {
  const one = { queryKey, exact: true };
  const isAsked = client.isFetching(one) > 0;
  await client.cancelQueries(one);
  client.setQueryData<Data>(queryKey, answer);
  if (isAsked) void client.invalidateQueries(one);
}
