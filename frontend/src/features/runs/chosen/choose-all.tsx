/** A choice of all runs that match the filter, also of those that are not loaded yet. */
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import type { Listing, Run } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { listedOnce } from "@/features/runs/listed";
import { withAll, type Selection } from "@/features/runs/table/selection";

type Pages = Pick<
  UseInfiniteQueryResult<InfiniteData<Listing<Run>>>,
  "data" | "hasNextPage" | "fetchNextPage"
>;

/** Of those that match: of more nothing can be changed at once. */
export const MOST_CHOSEN = 500;

/** Loads the pages of the list up to as many runs as can be chosen, then chooses these. */
export function useChoosingAll(
  { data, hasNextPage, fetchNextPage }: Pages,
  view: unknown,
  setSelection: (of: (now: Selection) => Selection) => void,
) {
  const [isPending, setPending] = useState(false);
  const latest = useRef(view);
  useEffect(() => {
    latest.current = view;
  }, [view]);
  const choose = async () => {
    setPending(true);
    let [found, hasMore] = [data, hasNextPage];
    const idsOf = () =>
      listedOnce(found?.pages.map(({ items }) => items) ?? []).map(({ id }) => id);
    while (hasMore && idsOf().length < MOST_CHOSEN) {
      const next = await fetchNextPage();
      // Below the list stands why no more came.
      if (next.isError || latest.current !== view) break;
      [found, hasMore] = [next.data, next.hasNextPage];
    }
    setPending(false);
    if (latest.current !== view) return;
    const ids = idsOf().slice(0, MOST_CHOSEN);
    setSelection((now) => withAll(now, ids));
  };
  return { isPending, choose };
}

export function ChooseAll(props: {
  isPending: boolean;
  choose: () => Promise<void>;
  isFull: boolean;
}) {
  if (props.isFull)
    return (
      <span className="small muted">More match; at most {MOST_CHOSEN} are chosen at once.</span>
    );
  return (
    <PendingButton isPending={props.isPending} onPress={() => void props.choose()}>
      Choose all that match, up to {MOST_CHOSEN}
    </PendingButton>
  );
}
