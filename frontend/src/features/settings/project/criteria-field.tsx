/** What each comparison is ranked by, one after the other: up to five names with their questions. */
import { useId } from "react";

import type { Criterion } from "@/api/types";
import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";

const MOST_CRITERIA = 5;

/** As they are saved: lines in which nothing was written are none. */
export const criteriaOf = (rows: readonly Criterion[]): Criterion[] =>
  rows
    .map(({ name, question }) => ({ name: name.trim(), question: question.trim() }))
    .filter(({ name, question }) => name !== "" || question !== "");

/** Why they cannot be saved, or null if they can. */
export function whatIsWrong(rows: readonly Criterion[]): string | null {
  const criteria = criteriaOf(rows);
  if (criteria.some(({ name, question }) => name === "" || question === ""))
    return "A criterion needs a name and a question.";
  const names = criteria.map(({ name }) => name.toLowerCase());
  return new Set(names).size < names.length ? "Two criteria have the same name." : null;
}

export function CriteriaField(props: {
  rows: readonly Criterion[];
  onChange: (rows: readonly Criterion[]) => void;
}) {
  const id = useId();
  const { rows, onChange } = props;
  const wrong = whatIsWrong(rows);
  const set = (at: number, row: Criterion) => onChange(rows.with(at, row));
  const up = (at: number) =>
    onChange(rows.toSpliced(at - 1, 2, ...rows.slice(at - 1, at + 1).reverse()));
  return (
    <fieldset className="field criteria-field" aria-describedby={id} ref={keepFocus}>
      <legend className="label">Criteria</legend>
      {rows.map((row, at) => (
        <div className="criterion-row" key={at} data-row>
          <input
            className="input"
            aria-label={`Name of criterion ${at + 1}`}
            placeholder="helpful"
            maxLength={40}
            value={row.name}
            onChange={(event) => set(at, { ...row, name: event.target.value })}
          />
          <input
            className="input"
            aria-label={`Question of criterion ${at + 1}`}
            placeholder="Which response helps more?"
            maxLength={300}
            value={row.question}
            onChange={(event) => set(at, { ...row, question: event.target.value })}
          />
          <button
            type="button"
            className="btn ghost icon"
            aria-label={`Move criterion ${at + 1} up`}
            title="Move up"
            disabled={at === 0}
            onClick={() => up(at)}
          >
            <Icon name="up" />
          </button>
          <button
            type="button"
            className="btn ghost icon"
            aria-label={`Remove criterion ${at + 1}`}
            title="Remove"
            onClick={() => onChange(rows.toSpliced(at, 1))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div className="row">
        <button
          type="button"
          className="btn"
          disabled={rows.length >= MOST_CRITERIA}
          onClick={() => onChange([...rows, { name: "", question: "" }])}
        >
          <Icon name="plus" /> Add a criterion
        </button>
      </div>
      <span id={id} className={wrong === null ? "hint" : "wrong"}>
        {wrong ??
          "Annotators rank each comparison once per criterion, one after the other; without criteria, once. A judgment keeps the criteria under which it was given."}
      </span>
    </fieldset>
  );
}
