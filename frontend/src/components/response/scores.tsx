/** The scores of a response by name; a long name is cut and whole on hover. */
import "./scores.css";

import { number } from "@/lib/format";

export function Scores(props: {
  scores: Readonly<Record<string, number | null>>;
  className?: string;
}) {
  return (
    <dl className={props.className}>
      {Object.entries(props.scores).map(([name, value]) => (
        <div key={name}>
          <dt className="clip" title={name}>
            {name}
          </dt>
          <dd>{number(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
