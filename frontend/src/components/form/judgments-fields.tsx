/** How many judgments new comparisons want: so many each, and a second one for some. */
import { useId } from "react";

import type { Project } from "@/api/types";

/** What is typed; the share in percent. */
export interface Wanted {
  readonly each: string;
  readonly first: string;
  readonly percent: string;
}

/** So that agreement is known after 30 judgments, and stays known. */
export const PROPOSED_JUDGMENTS: Wanted = { each: "1", first: "20", percent: "10" };

export function wantedFrom(project: Project): Wanted {
  return {
    each: String(project.judgments_per_comparison),
    first: String(project.overlap_first),
    percent: String(Number((100 * project.overlap_share).toFixed(4))),
  };
}

export const settingsOf = ({ each, first, percent }: Wanted) => ({
  judgments_per_comparison: Number(each),
  overlap_first: Number(first),
  overlap_share: Number(percent) / 100,
});

export function JudgmentsFields(props: { value: Wanted; onChange: (wanted: Wanted) => void }) {
  const ids = [useId(), useId(), useId(), useId()] as const;
  const { value } = props;
  const number = (id: string, name: keyof Wanted, min: number, max: number, label?: string) => (
    <input
      id={id}
      className="input short"
      type="number"
      required
      min={min}
      max={max}
      step={name === "percent" ? "any" : 1}
      aria-label={label}
      value={value[name]}
      onChange={(event) => props.onChange({ ...value, [name]: event.target.value })}
    />
  );
  const isOff = Number(value.each) > 1;
  return (
    <fieldset className="judgments-wanted">
      <div className="field">
        <label htmlFor={ids[0]}>Judgments per comparison</label>
        {number(ids[0], "each", 1, 100)}
        <span className="hint">How many annotators judge each new comparison.</span>
      </div>
      <div className="field" role="group" aria-labelledby={ids[3]}>
        <span className="label" id={ids[3]}>
          Two judgments for some
        </span>
        <span className="row">
          the first {number(ids[1], "first", 0, 100_000, "First comparisons with two judgments")}{" "}
          comparisons, then{" "}
          {number(ids[2], "percent", 0, 100, "Percent of later comparisons with two judgments")} %
        </span>
        <span className="hint">
          {isOff
            ? "Every comparison already gets two judgments or more, so this changes nothing."
            : "Two people who judge the same comparison show how far annotators agree. Set both to 0 for none."}
        </span>
      </div>
    </fieldset>
  );
}
