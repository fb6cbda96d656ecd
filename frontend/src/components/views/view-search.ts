/** What a page shows: by its address, or by the saved view that the address names. */
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import type { SavedView } from "@/api/types";
import { viewQuery } from "@/api/views";
import { useIsHere } from "@/lib/use-go";
import { useProjectId } from "@/lib/use-project";

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

/** The address after a change: it says everything, and which view it came from. */
export function withView(shown: URLSearchParams, viewId: string | null): URLSearchParams {
  const next = new URLSearchParams(shown);
  if (viewId !== null) next.set(VIEW, viewId);
  return next;
}

export function useViewSearch() {
  const projectId = useProjectId();
  const [address, setAddress] = useSearchParams();
  const isHere = useIsHere();
  const viewId = address.get(VIEW);
  const saved = useQuery({ ...viewQuery(projectId, viewId ?? ""), enabled: viewId !== null });
  const search = shownSearch(address, saved.data);
  const own = ownPart(address);
  return {
    search,
    saved: viewId === null ? null : saved,
    isChanged: own.size > 0 && own.toString() !== saved.data?.query,
    setSearch: (change: (now: URLSearchParams) => URLSearchParams) =>
      setAddress(() => withView(change(search), viewId), { replace: true }),
    /** Null: no view, only what is shown now. Nothing if its person has gone elsewhere since. */
    open: (id: string | null) => {
      if (isHere()) setAddress(id === null ? search : new URLSearchParams({ [VIEW]: id }));
    },
  };
}
