/** What a page shows: by its address, or by the saved view that the address names. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

import type { SavedView } from "@/api/types";
import { viewQuery } from "@/api/views";
import { useAddress, type Change } from "@/lib/address/use-address";
import { useProjectId } from "@/lib/address/use-project";

const VIEW = "view";

/** The address without the name of the view. */
export function ownPart(address: URLSearchParams): URLSearchParams {
  const own = new URLSearchParams(address);
  own.delete(VIEW);
  return own;
}

/** What is said in the address goes before what the view says: somebody has changed it here. */
export function shownSearch(address: URLSearchParams, view: SavedView | undefined) {
  const own = ownPart(address);
  return own.size > 0 ? own : new URLSearchParams(view?.query ?? "");
}

/**
 * The address after a change: it says everything, and which view it came from.
 *
 * Where nothing is left to say, it leaves the view: its name alone would show all of it again.
 */
export function withView(shown: URLSearchParams, viewId: string | null): URLSearchParams {
  const next = new URLSearchParams(shown);
  if (viewId !== null && next.size > 0) next.set(VIEW, viewId);
  return next;
}

export function useViewSearch() {
  const projectId = useProjectId();
  const { search: address, change } = useAddress();
  const viewId = address.get(VIEW);
  const saved = useQuery({ ...viewQuery(projectId, viewId ?? ""), enabled: viewId !== null });
  const view = saved.data;
  const search = useMemo(() => shownSearch(address, view), [address, view]);
  const own = ownPart(address);
  const shownNow = useCallback(
    (now: URLSearchParams) => shownSearch(now, now.get(VIEW) === viewId ? view : undefined),
    [view, viewId],
  );
  const setSearch = useCallback(
    (of: Change) => change((now) => withView(of(shownNow(now)), now.get(VIEW))),
    [change, shownNow],
  );
  return {
    search,
    saved: viewId === null ? null : saved,
    isChanged: own.size > 0 && own.toString() !== view?.query,
    setSearch,
    /** Null: no view, only what is shown now. Nothing if its person has gone elsewhere since. */
    open: (id: string | null) =>
      change((now) => (id === null ? shownNow(now) : new URLSearchParams({ [VIEW]: id })), {
        isNew: true,
      }),
  };
}
