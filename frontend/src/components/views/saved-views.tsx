/** The saved views of a page: open one, save what is shown now, update, rename or delete one. */
import "./saved-views.css";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { isConflict } from "@/api/client";
import { managesIn, meQuery } from "@/api/session";
import type { SavedView } from "@/api/types";
import { changeView, createView, viewsKey, viewsQuery, type ViewPage } from "@/api/views";
import { CreateForm, NameField } from "@/components/form/create-form";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { useProjectId } from "@/lib/address/use-project";

import { isOvertaken, seenRevision, type ViewBase } from "./view-base";
import { ViewsDialog } from "./views-dialog";
import { useViewSearch } from "./view-search";

function SaveDialog(props: { page: ViewPage; query: string; onClose: () => void }) {
  const { page, query, onClose } = props;
  const projectId = useProjectId();
  const { open } = useViewSearch();
  const [name, setName] = useState("");
  return (
    <CreateForm
      notDone="The view was not saved."
      create={() => createView(projectId, { page, name: name.trim(), query })}
      list={viewsKey(projectId)}
      onMade={(made) => open(made.id)}
      verb="Save"
      isComplete={name.trim() !== ""}
      dialog={{ title: "Save this view", onClose }}
    >
      <NameField value={name} onChange={setName} placeholder="Learning rates, by gold reward" />
      <p className="small muted">
        Everybody in the project finds it here. You can also share the address of the page.
      </p>
    </CreateForm>
  );
}

interface Update {
  readonly query: string;
  readonly revision: number;
  /** As it was when the button was pressed: the button goes once the view is shown as saved. */
  readonly onSaved: (query: string) => void;
}

/** What the change began from stays what it is, also when the newest view is read again. */
function useUpdate(view: SavedView) {
  const client = useQueryClient();
  const [base, setBase] = useState<ViewBase>(view);
  const readAgain = () => client.invalidateQueries({ queryKey: viewsKey(view.project_id) });
  const saving = useMutation({
    mutationFn: ({ query, revision }: Update) =>
      changeView(view.project_id, view.id, { revision, query }),
    onSuccess: async (saved, { query, onSaved }) => {
      setBase(saved);
      await readAgain();
      onSaved(query);
    },
    onError: (error) => (isConflict(error) ? readAgain() : undefined),
  });
  return { saving, isLate: isOvertaken(base, view), seen: seenRevision(base, view) };
}

/** Updates the view, and asks first if somebody else has updated it since the change began. */
function UpdateButton(props: {
  view: SavedView;
  query: string;
  onSaved: (query: string) => void;
  onShowTheirs: () => void;
}) {
  const { view, query, onSaved } = props;
  const { saving, isLate, seen } = useUpdate(view);
  const save = (revision: number) => saving.mutate({ query, revision, onSaved });
  if (isLate)
    return (
      <div className="note warn" role="alert">
        <span className="grow">
          <b>Somebody else updated “{view.name}” while you changed it.</b> Nothing of yours is saved
          yet.
        </span>
        <button type="button" className="btn" onClick={props.onShowTheirs}>
          Show theirs
        </button>
        <PendingButton isPending={saving.isPending} onPress={() => save(view.revision)}>
          Replace theirs
        </PendingButton>
        {!isConflict(saving.error) && <Refused asked={saving} />}
      </div>
    );
  return (
    <>
      <PendingButton isPending={saving.isPending} onPress={() => save(seen)}>
        Update “{view.name}”
      </PendingButton>
      <Refused asked={saving} />
    </>
  );
}

function Chooser({ views }: { views: readonly SavedView[] }) {
  const { saved, isChanged, open } = useViewSearch();
  const view = saved?.data;
  return (
    <select
      className="input"
      aria-label="Saved view"
      value={view?.id ?? ""}
      onChange={(event) => open(event.target.value || null)}
    >
      <option value="">Saved views…</option>
      {views.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
          {one.id === view?.id && isChanged ? " (changed)" : ""}
        </option>
      ))}
    </select>
  );
}

function Changes({ page, views }: { page: ViewPage; views: readonly SavedView[] }) {
  const { search, saved, isChanged, open } = useViewSearch();
  const [dialog, setDialog] = useState<"save" | "all" | null>(null);
  const close = () => setDialog(null);
  const view = saved?.data;
  const query = search.toString();
  const latest = useRef(query);
  useEffect(() => {
    latest.current = query;
  });
  // What was changed while it was saved stays, as a change of the view.
  const openIfShown = (id: string) => (text: string) => {
    if (latest.current === text) open(id);
  };
  const isNew = query !== "" && (view === undefined || isChanged);
  return (
    <>
      {view !== undefined && isChanged && (
        <UpdateButton
          key={view.id}
          view={view}
          query={query}
          onSaved={openIfShown(view.id)}
          onShowTheirs={() => open(view.id)}
        />
      )}
      {isNew && (
        <button type="button" className="btn" onClick={() => setDialog("save")}>
          {view === undefined ? "Save view…" : "Save as…"}
        </button>
      )}
      {views.length > 0 && (
        <button type="button" className="btn ghost" onClick={() => setDialog("all")}>
          Manage views
        </button>
      )}
      {dialog === "save" && <SaveDialog page={page} query={query} onClose={close} />}
      {dialog === "all" && <ViewsDialog views={views} onClose={close} />}
    </>
  );
}

export function SavedViews({ page }: { page: ViewPage }) {
  const projectId = useProjectId();
  const me = useQuery(meQuery).data;
  const views = useQuery(viewsQuery(projectId, page)).data?.items ?? [];
  const mayChange = me !== undefined && managesIn(me, projectId);
  return (
    <div className="row saved-views">
      {views.length > 0 && <Chooser views={views} />}
      {mayChange && <Changes page={page} views={views} />}
    </div>
  );
}
