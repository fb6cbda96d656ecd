/** The saved views of a page that must open fast: asked for once somebody unfolds them. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { viewsQuery, type ViewPage } from "@/api/views";
import { Failed } from "@/components/states";
import { useMayChange } from "@/components/use-may";
import { useProjectId } from "@/lib/address/use-project";

import { SavedViews } from "./saved-views";
import { useViewSearch } from "./view-search";

export function FoldedViews({ page }: { page: ViewPage }) {
  const hasView = useViewSearch().saved !== null;
  const [isOpen, setOpen] = useState(hasView);
  const [hadView, setHadView] = useState(hasView);
  const id = useId();
  // A link to a view unfolds them; where one is left they stay, to choose another.
  if (hadView !== hasView) {
    setHadView(hasView);
    if (hasView) setOpen(true);
  }
  return (
    <>
      <button
        type="button"
        className="btn"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        Saved views
      </button>
      {isOpen && (
        <div id={id} className="row">
          <Unfolded page={page} />
        </div>
      )}
    </>
  );
}

function Unfolded({ page }: { page: ViewPage }) {
  const projectId = useProjectId();
  const { search } = useViewSearch();
  const views = useQuery(viewsQuery(projectId, page));
  const maySave = useMayChange(projectId);
  // What can be saved has a button.
  const isNone = views.data?.items.length === 0 && !(maySave && search.size > 0);
  return (
    <>
      <Failed query={views} what="The saved views" />
      {isNone && (
        <p className="small muted">
          No view is saved.{maySave && " Filter, sort or choose columns to save what is shown."}
        </p>
      )}
      <SavedViews page={page} />
    </>
  );
}
