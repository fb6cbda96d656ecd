/** Somebody else changed what is being edited: theirs, before one's own may replace it. */
import { PlainText } from "@/components/text/plain-text";

import type { FieldName, Typed } from "./typed";

const list = (fields: readonly string[]) => new Intl.ListFormat("en").format(fields);

export function Clash({ fields, newest }: { fields: readonly FieldName[]; newest: Typed }) {
  if (fields.length === 0) return null;
  return (
    <div className="note warn" role="alert">
      <div className="grow">
        <b>Somebody else changed the {list(fields)} of this run while you wrote.</b> Compare before
        you save yours, because saving replaces theirs.
        {fields.map((name) => (
          <details key={name}>
            <summary>Theirs: {name}</summary>
            <p className="plain" dir="auto">
              <PlainText text={[newest[name] ?? ""].flat().join(", ") || "(empty)"} />
            </p>
          </details>
        ))}
      </div>
    </div>
  );
}
