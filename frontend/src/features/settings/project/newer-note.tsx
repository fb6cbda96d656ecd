/** Somebody else saved the settings: what of theirs is in the form, and what both typed. */
import { PlainText } from "@/components/text/plain-text";

import { LABELS, textOf, type FieldName, type Typed } from "./typed";
import type { Newer } from "./use-typed";

const list = (fields: readonly FieldName[]) =>
  new Intl.ListFormat("en").format(fields.map((field) => LABELS[field]));

export function NewerNote(props: {
  newer: Newer;
  newest: Typed;
  onTakeTheirs: (field: FieldName) => void;
}) {
  const { newer, newest, onTakeTheirs } = props;
  return (
    <div className="note warn" role="alert">
      <div className="grow stack">
        <p>
          <b>Somebody else changed this project while you wrote.</b> Your changes are still here and
          not saved yet.
          {newer.taken.length > 0 && ` The form now shows their ${list(newer.taken)}.`}{" "}
          {newer.clashing.length > 0
            ? `Both of you changed the ${list(newer.clashing)}: compare before you save, because saving replaces theirs.`
            : "Save to keep your changes."}
        </p>
        {newer.clashing.map((field) => (
          <details key={field}>
            <summary>Theirs: {LABELS[field]}</summary>
            <div className="stack">
              <p className="plain" dir="auto">
                <PlainText text={textOf(newest, field) || "(empty)"} />
              </p>
              <button type="button" className="btn" onClick={() => onTakeTheirs(field)}>
                Use their {LABELS[field]}
              </button>
            </div>
          </details>
        ))}
      </div>
    </div>
  );
}
