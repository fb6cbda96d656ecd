export interface Choosing<Value extends string> {
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
