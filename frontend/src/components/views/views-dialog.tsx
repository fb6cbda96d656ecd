/** All views of a page with who saved them; names can be changed, and views deleted. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { SavedView } from "@/api/types";
import { changeView, deleteView, viewsKey } from "@/api/views";
import { Dialog } from "@/components/dialog";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Ago } from "@/components/text/clock";

function useChange<Input>(view: SavedView, change: (input: Input) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: viewsKey(view.project_id) }),
  });
}

function Line({ view }: { view: SavedView }) {
  // Null until somebody types: a name that another person gives meanwhile is shown.
  const [typed, setTyped] = useState<string | null>(null);
  const name = typed ?? view.name;
  const [isSure, setSure] = useState(false);
  const { project_id: projectId, revision } = view;
  const renaming = useChange(view, (next: string) =>
    changeView(projectId, view.id, { revision, name: next }),
  );
  const deleting = useChange(view, (id: string) => deleteView(projectId, id));
  const isNew = name.trim() !== "" && name.trim() !== view.name;
  const rename = () => {
    if (isNew && !renaming.isPending) renaming.mutate(name.trim());
  };
  return (
    <li>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          rename();
        }}
      >
        <input
          className="input"
          aria-label={`Name of ${view.name}`}
          maxLength={200}
          value={name}
          onChange={(event) => setTyped(event.target.value)}
        />
        {isNew && (
          <PendingButton isPending={renaming.isPending} onPress={rename}>
            Rename
          </PendingButton>
        )}
      </form>
      <span className="small muted">
        {view.user_name}, <Ago at={view.changed_at} />
      </span>
      <PendingButton
        className="btn danger"
        isPending={deleting.isPending}
        onPress={() => (isSure ? deleting.mutate(view.id) : setSure(true))}
      >
        {isSure ? `Delete “${view.name}” for everybody` : `Delete “${view.name}”`}
      </PendingButton>
      <Refused asked={renaming} />
      <Refused asked={deleting} />
    </li>
  );
}

export function ViewsDialog(props: { views: readonly SavedView[]; onClose: () => void }) {
  return (
    <Dialog title="Saved views" onClose={props.onClose}>
      <div ref={keepFocus}>
        <ul className="views-list">
          {props.views.map((view) => (
            <Line key={view.id} view={view} />
          ))}
        </ul>
        {props.views.length === 0 && <p className="muted">No view is saved.</p>}
      </div>
    </Dialog>
  );
}
