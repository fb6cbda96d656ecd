import { Segmented, type Choosing } from "../segmented";

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
