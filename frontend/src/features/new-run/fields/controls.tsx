/** The controls of single values: number, text, choice, texts, switch. */
import { useState } from "react";

import type { Json } from "@/api/types";
import { emptyWord, type Field, type FieldOf } from "@/features/new-run/config/schema";
import { numberOf, shownTexts, shownValue, textsOf } from "@/features/new-run/config/typing";

interface ControlProps<Kind extends Field = Field> {
  readonly field: Kind;
  readonly id: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  /** The value that holds, be it said or the default. */
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

export function Control(props: ControlProps) {
  const { field } = props;
  switch (field.type) {
    case "number":
      return <NumberControl {...props} field={field} />;
    case "text":
      return <TextControl {...props} field={field} />;
    case "choice":
      return <ChoiceControl {...props} field={field} />;
    case "texts":
      return <TextsControl {...props} />;
    case "switch":
      return <SwitchControl {...props} />;
    default:
      return null;
  }
}

const attributes = (props: ControlProps) => ({
  id: props.id,
  "aria-describedby": props.describedBy,
  "aria-invalid": props.isInvalid || undefined,
});

/** A text field: it keeps "5e-" while somebody types 5e-7, and a wheel does not change it. */
function NumberControl(props: ControlProps<FieldOf<"number">>) {
  const [draft, setDraft] = useState<string | null>(null);
  const { field, value } = props;
  return (
    <span className="number-control">
      <input
        {...attributes(props)}
        className="input mono"
        inputMode={field.isInteger ? "numeric" : "decimal"}
        autoComplete="off"
        spellCheck={false}
        placeholder={field.isNullable ? emptyWord(field) : ""}
        value={draft ?? shownValue(value)}
        onChange={(event) => {
          setDraft(event.target.value);
          props.onChange(numberOf(event.target.value));
        }}
        onBlur={() => setDraft(null)}
      />
      {field.isNullable && field.fallback !== null && (
        <label className="check small">
          <input
            type="checkbox"
            checked={value === null}
            onChange={(event) => props.onChange(event.target.checked ? null : undefined)}
          />
          none<span className="sr-only">, {field.name}</span>
        </label>
      )}
    </span>
  );
}

function TextControl(props: ControlProps<FieldOf<"text">>) {
  const common = {
    ...attributes(props),
    className: "input mono",
    spellCheck: false,
    value: typeof props.value === "string" ? props.value : "",
    onChange: (event: { target: { value: string } }) =>
      props.onChange(event.target.value === "" ? undefined : event.target.value),
  };
  return props.field.isLong ? <textarea {...common} rows={2} /> : <input {...common} />;
}

function ChoiceControl(props: ControlProps<FieldOf<"choice">>) {
  const value = typeof props.value === "string" ? props.value : "";
  const { custom, options } = props.field;
  const isKnown = options.includes(value);
  const isOwn = custom !== null && !isKnown;
  return (
    <>
      <select
        {...attributes(props)}
        className="input mono"
        value={isOwn ? OWN : value}
        onChange={({ target }) => props.onChange(target.value === OWN ? custom : target.value)}
      >
        {!isKnown && !isOwn && <option value={value}>{value || "choose"}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
        {custom !== null && <option value={OWN}>custom</option>}
      </select>
      {isOwn && (
        <textarea
          className="input mono"
          aria-label={`${props.field.name}, custom`}
          aria-describedby={props.describedBy}
          aria-invalid={props.isInvalid || undefined}
          spellCheck={false}
          rows={4}
          value={value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </>
  );
}

/** No option is called so. */
const OWN = "\u0000custom";

/** One text a line; it keeps an empty line while somebody types the next text. */
function TextsControl(props: ControlProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const texts = Array.isArray(props.value) ? props.value : [];
  return (
    <textarea
      {...attributes(props)}
      className="input mono"
      spellCheck={false}
      rows={2}
      placeholder={"one per line; \\n is a line break"}
      value={draft ?? shownTexts(texts)}
      onChange={(event) => {
        setDraft(event.target.value);
        const typed = textsOf(event.target.value);
        props.onChange(typed.length === 0 ? undefined : typed);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}

function SwitchControl(props: ControlProps) {
  return (
    <label className="check">
      <input
        {...attributes(props)}
        type="checkbox"
        checked={props.value === true}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.value === true ? "yes" : "no"}
    </label>
  );
}
