/** The end of a paged list: how to get more of it. */
interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

export function More({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <div className="more">
      <button
        type="button"
        className="btn"
        disabled={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {query.isFetchingNextPage ? "Loading" : "Show more"}
      </button>
    </div>
  );
}
