/** How long something lasts: a few lengths by their words. */
import { Field } from "@/components/form/field";

/** Words and seconds; null has no end. */
export type Lifetime = readonly [string, number | null];

export function LifetimeField(props: {
  label: string;
  lifetimes: readonly Lifetime[];
  value: number | null;
  onChange: (seconds: number | null) => void;
}) {
  return (
    <Field label={props.label}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={String(props.value)}
          onChange={(event) =>
            props.onChange(event.target.value === "null" ? null : Number(event.target.value))
          }
        >
          {props.lifetimes.map(([words, seconds]) => (
            <option key={words} value={String(seconds)}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
