/** A curve as small as a word. */
import "./sparkline.css";

import type { Column } from "./smoothing";

export function Sparkline(props: {
  values: Column;
  colour?: string;
  label: string;
  /** From where to where to draw, so that several can be compared; by default all of its own. */
  range?: readonly [number, number];
}) {
  const points = props.values.filter((value): value is number => value !== null);
  if (points.length < 2) return <span className="faint small">–</span>;
  const [low, high] = props.range ?? [Math.min(...points), Math.max(...points)];
  const span = high - low || 1;
  const path = points
    .map((value, i) => {
      const x = (100 * i) / (points.length - 1);
      const y = 24 - (22 * (value - low)) / span;
      return `${i === 0 ? "M" : "L"}${x.toFixed(2)} ${y.toFixed(2)}`;
    })
    .join("");
  return (
    <svg
      className="sparkline"
      viewBox="0 0 100 26"
      preserveAspectRatio="none"
      role="img"
      aria-label={props.label}
    >
      <path d={path} stroke={props.colour ?? "var(--s1)"} />
    </svg>
  );
}
