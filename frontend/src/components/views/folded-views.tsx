/** The saved views of a page that must open fast: asked for once somebody unfolds them. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { viewsQuery, type ViewPage } from "@/api/views";
import { useProjectId } from "@/lib/address/use-project";

import { SavedViews } from "./saved-views";
import { useViewSearch } from "./view-search";

export function FoldedViews({ page }: { page: ViewPage }) {
  const { search, saved } = useViewSearch();
  const [isOpen, setOpen] = useState(saved !== null);
  const views = useQuery({ ...viewsQuery(useProjectId(), page), enabled: isOpen });
  const isNone = views.data?.items.length === 0 && search.size === 0;
  return (
    <>
      {isOpen && isNone && (
        <p className="small muted">
          No view is saved. Filter, sort or choose columns to save what is shown.
        </p>
      )}
      {isOpen && <SavedViews page={page} />}
      <button type="button" className="btn" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Saved views
      </button>
    </>
  );
}
