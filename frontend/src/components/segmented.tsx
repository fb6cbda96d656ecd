interface Choosing<Value extends string> {
  readonly label: string;
  /** null as long as none is chosen. */
  readonly value: Value | null;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}

/** A choice between a few words. */
export function Segmented<Value extends string>(props: Choosing<Value>) {
  return (
    <div className="seg" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button
          type="button"
          key={value}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** As many words as fit beside a title; more of them are a list. */
const MOST = 4;

/** A choice between words of which nobody knows how many there are. */
export function Choice(props: Choosing<string> & { readonly value: string }) {
  if (props.options.length <= MOST) return <Segmented {...props} />;
  return (
    <select
      className="input"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {props.options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}
