/** The notes of a run: markdown that whoever may change the run writes where it stands. */
import "./run-edit.css";

import { useId, useState } from "react";

import type { Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Markdown } from "@/components/text/markdown";
import { number } from "@/lib/format";

import { Clash } from "./clash";
import { useEdit } from "./use-edit";

const LONGEST = 10_000;
/** From here on it is said how much room is left. */
const NEARLY = 9000;

interface NotesProps {
  readonly run: Run;
  readonly mayChange: boolean;
}

export const Notes = (props: NotesProps) => (
  <div className="notes-area" ref={keepFocus}>
    <ReadOrWritten {...props} />
  </div>
);

function ReadOrWritten({ run, mayChange }: NotesProps) {
  const [isWriting, setWriting] = useState(false);
  const notes = run.notes ?? "";
  if (isWriting) return <NotesForm run={run} onClose={() => setWriting(false)} />;
  if (notes === "")
    return mayChange ? (
      <button type="button" className="btn ghost add-notes" onClick={() => setWriting(true)}>
        <Icon name="note" /> Add notes
      </button>
    ) : null;
  return (
    <section className="card notes" aria-label="Notes">
      <div className="prose">
        <Markdown text={notes} />
      </div>
      {mayChange && (
        <button
          type="button"
          className="btn ghost icon"
          aria-label="Edit the notes"
          onClick={() => setWriting(true)}
        >
          <Icon name="note" />
        </button>
      )}
    </section>
  );
}

function NotesForm({ run, onClose }: { run: Run; onClose: () => void }) {
  const [before] = useState(run.notes ?? "");
  const [text, setText] = useState(before);
  const { asked, clashing, newest, isRefused, save } = useEdit(run, { notes: text }, onClose);
  const help = useId();
  return (
    <section className="card notes-form" aria-label="Notes">
      <textarea
        className="input"
        aria-label="Notes in markdown"
        aria-describedby={help}
        autoFocus
        rows={8}
        maxLength={LONGEST}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
          // What was written is not lost by a slip.
          else if (event.key === "Escape" && text === before) onClose();
        }}
      />
      <div className="row">
        <PendingButton className="btn primary" isPending={asked.isPending} onPress={save}>
          {clashing.length > 0 ? "Save mine instead" : "Save notes"}
        </PendingButton>
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <span className="small muted" id={help}>
          Markdown. Ctrl+Enter saves.
          {text.length > NEARLY && ` ${number(LONGEST - text.length)} characters left.`}
        </span>
      </div>
      <Clash fields={clashing} newest={newest} />
      {isRefused && <Refused asked={asked} />}
    </section>
  );
}
