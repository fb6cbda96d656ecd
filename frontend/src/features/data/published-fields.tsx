/** Whether a file of prompts is a published set, and which part of it. */
import type { Published } from "@/api/projects";
import { Segmented } from "@/components/segmented";

const SETS: Readonly<Record<Published["set"], string>> = {
  gsm8k: "GSM8K, as published",
  math: "MATH, as published",
  aime: "AIME, as published",
  amc: "AMC, as published",
};
const CONTEST = '{"id": 60, "problem": "Find $m + n$.", "answer": "025", "year": 2024}';
export const PUBLISHED_EXAMPLES: Readonly<Record<Published["set"], string>> = {
  gsm8k: '{"question": "Ann has 2 pens and buys 3. How many now?", "answer": "2 + 3 = 5\\n#### 5"}',
  math: '{"problem": "What is $x$?", "level": "Level 5", "type": "Algebra", "solution": "$x = \\\\boxed{\\\\frac{3}{4}}$"}',
  aime: CONTEST,
  amc: CONTEST,
};
const SPLITS = [
  ["train", "train"],
  ["test", "test"],
] as const;

export function PublishedFields(props: {
  value: Published | null;
  onChange: (published: Published | null) => void;
}) {
  const { value, onChange } = props;
  const choose = (set: string) =>
    onChange(
      set === "" ? null : { split: null, instruction: "", ...value, set: set as Published["set"] },
    );
  return (
    <>
      <label className="row small muted">
        Records
        <select
          className="input format"
          value={value?.set ?? ""}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">prompts</option>
          {Object.entries(SETS).map(([set, title]) => (
            <option key={set} value={set}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {value !== null && (
        <>
          <Segmented
            label="Split of the file"
            value={value.split}
            options={SPLITS}
            onChange={(split) => onChange({ ...value, split })}
          />
          <label className="row small muted">
            Line after each question
            <input
              className="input instruction"
              maxLength={1000}
              placeholder="none"
              value={value.instruction}
              onChange={(event) => onChange({ ...value, instruction: event.target.value })}
            />
          </label>
        </>
      )}
    </>
  );
}
