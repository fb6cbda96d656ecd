/** The end of a paged list: how to get more of it, and why no more came. */
import { PendingButton } from "./form/pending-button";
import { Failure } from "./states";

interface Paged {
  error: Error | null;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
}

export function More({ query }: { query: Paged }) {
  const { isFetchingNextPage: isFetching, isFetchNextPageError: hasFailed } = query;
  if (!query.hasNextPage) return null;
  return (
    <div className="more">
      {hasFailed && !isFetching && <Failure error={query.error} />}
      <PendingButton isPending={isFetching} onPress={() => void query.fetchNextPage()}>
        {isFetching ? "Loading…" : hasFailed ? "Try again" : "Show more"}
      </PendingButton>
    </div>
  );
}
