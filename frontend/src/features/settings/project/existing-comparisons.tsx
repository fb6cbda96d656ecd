/** Existing comparisons want as many judgments as before, until somebody asks for more of them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { askForJudgments } from "@/api/projects";
import type { ComparisonsChanged } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { number, plural } from "@/lib/format";

interface ExistingComparisonsProps {
  readonly projectId: string;
  /** Whether the numbers above are saved: what is asked for is what is saved. */
  readonly isSaved: boolean;
}

export function ExistingComparisons({ projectId, isSaved }: ExistingComparisonsProps) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const asking = useMutation({
    mutationFn: () => askForJudgments(projectId, {}),
    onSuccess: () => {
      setOpen(false);
      return client.invalidateQueries({ queryKey: ["project", projectId] });
    },
  });
  return (
    <div className="field">
      <span className="small muted">
        These numbers apply to new comparisons; existing ones want as many judgments as before.
      </span>
      <span className="row">
        <button
          type="button"
          className="btn"
          disabled={!isSaved}
          onClick={() => {
            asking.reset();
            setOpen(true);
          }}
        >
          Ask for as many of existing comparisons
        </button>
        <span className="small muted" role="status">
          {isSaved ? asking.data !== undefined && words(asking.data) : "Save the numbers first."}
        </span>
      </span>
      {isOpen && (
        <Dialog
          title="More judgments of existing comparisons"
          onClose={() => setOpen(false)}
          footer={
            <>
              <button type="button" className="btn ghost" onClick={() => setOpen(false)}>
                Cancel
              </button>
              <PendingButton
                className="btn primary"
                isPending={asking.isPending}
                onPress={() => asking.mutate()}
              >
                {asking.isPending ? "Asking…" : "Ask for more judgments"}
              </PendingButton>
            </>
          }
        >
          <p>
            Each existing comparison that wants fewer judgments than the saved numbers say wants so
            many from now on, also if it was finished. Annotators who have judged it do not get it
            again. Comparisons that want more stay as they are, and practice comparisons are left
            out.
          </p>
          <p>This cannot be undone.</p>
          <Refused asked={asking} />
        </Dialog>
      )}
    </div>
  );
}

function words({ comparisons, judgments }: ComparisonsChanged): string {
  if (comparisons === 0) return "All existing comparisons want as many already.";
  return comparisons === 1
    ? `1 existing comparison wants ${plural(judgments, "more judgment")}.`
    : `${number(comparisons)} existing comparisons want ${plural(judgments, "more judgment")} together.`;
}
