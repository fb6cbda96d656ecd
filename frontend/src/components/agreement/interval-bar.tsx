/** An agreement on a line from −0.5 to 1: a mark at chance, a band for the interval, a dot. */
import "./interval-bar.css";

const LOW = -0.5;
const HIGH = 1;

function place(value: number): number {
  return (100 * (Math.min(HIGH, Math.max(LOW, value)) - LOW)) / (HIGH - LOW);
}

/** Beside the same numbers as text: it is hidden from screen readers. */
export function IntervalBar(props: {
  value: number | null;
  interval: readonly [number, number] | null;
}) {
  const { value, interval } = props;
  const [low, high] = interval ?? [0, 0];
  return (
    <span className="interval-bar" aria-hidden="true">
      <i className="chance" style={{ left: `${place(0)}%` }} />
      {interval !== null && (
        <i
          className="range"
          style={{ left: `${place(low)}%`, width: `${place(high) - place(low)}%` }}
        />
      )}
      {value !== null && (
        <i
          className={interval === null ? "at unsure" : "at"}
          style={{ left: `${place(value)}%` }}
        />
      )}
    </span>
  );
}
