/** Which prompts are taken: at each key of the metadata the values to take, and tags. */
import { useState } from "react";

import type { PromptGroups } from "@/api/types";
import { number, plural } from "@/lib/format";
import { PlainText } from "@/components/text/plain-text";

import { facetsOf, isEvery, toggled, valuesAt, type Chosen, type Facet } from "./chosen-prompts";

export function PromptChooser(props: {
  counted: PromptGroups;
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
}) {
  const facets = facetsOf(props.counted.groups);
  // Only at first: whoever takes back the last choice goes on to choose.
  const [isOpen] = useState(() => !isEvery(props.chosen));
  if (facets.length === 0) return null;
  const { left_out: leftOut, has_more_keys: hasMore, has_tags: hasTags } = props.counted;
  return (
    <details className="some-prompts" open={isOpen}>
      <summary>Only some prompts</summary>
      <p className="small muted">
        A prompt is taken if it has one of the chosen values at each key, and one of the chosen
        tags. Where nothing is chosen, all are taken.
      </p>
      {facets.map((facet) => (
        <Values key={facet.key ?? ""} facet={facet} {...props} />
      ))}
      {leftOut.length > 0 && (
        <p className="small faint">
          {plural(leftOut.length, "key")} with too many or too long values{" "}
          {leftOut.length === 1 ? "is" : "are"} not listed: <PlainText text={leftOut.join(", ")} />.
        </p>
      )}
      {hasMore && <p className="small faint">Only the first hundred keys are listed.</p>}
      {!hasTags && <p className="small faint">There are too many different tags to list them.</p>}
    </details>
  );
}

function Values(props: { facet: Facet; chosen: Chosen; onChange: (chosen: Chosen) => void }) {
  const { facet, chosen, onChange } = props;
  const { key, values } = facet;
  const now = valuesAt(chosen, key);
  return (
    <fieldset>
      <legend>{key === null ? "Tags" : <PlainText text={key} />}</legend>
      {values.map(({ value, prompts }) => (
        <label key={JSON.stringify(value)} className="row">
          <input
            type="checkbox"
            checked={now.includes(value)}
            onChange={() => onChange(toggled(chosen, key, value))}
          />
          <span>
            <PlainText text={String(value)} /> <span className="faint">{number(prompts)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
