/** How much of a new snapshot is held out, in percent. */
import { Field } from "./field";

export function HeldOutField(props: {
  hint: string;
  value: string;
  onChange: (percent: string) => void;
}) {
  return (
    <Field label="Held out, %" hint={props.hint}>
      {(control) => (
        <input
          {...control}
          className="input"
          type="number"
          min={0}
          max={99}
          step="any"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
