/** How long something lasts: a few lengths by their words. */
import { Field } from "@/components/form/field";

/** Words and seconds; null has no end. */
export type Life = readonly [string, number | null];

export function LifeField(props: {
  label: string;
  lives: readonly Life[];
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
          {props.lives.map(([words, seconds]) => (
            <option key={words} value={String(seconds)}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
