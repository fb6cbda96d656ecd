/** Why a practice comparison is expected to be ranked as it is: annotators read it after their answer. */
import { Field } from "./field";

const LONGEST_EXPLANATION = 10_000;

export function ExplanationField(props: { value: string; onChange: (text: string) => void }) {
  return (
    <Field
      label="Why is this the expected ranking?"
      hint="Markdown works. Refer to responses by what they say: annotators see them in another order and under other letters."
    >
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={6}
          maxLength={LONGEST_EXPLANATION}
          value={props.value}
          placeholder="The one with cold water helps at once. Bleach ruins wool."
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
