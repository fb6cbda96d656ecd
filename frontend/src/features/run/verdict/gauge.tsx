/** One number with its interval on a scale that shows where it is healthy. */
import type { Gauge } from "@/api/types";
import { Sentence } from "@/components/text/sentence";
import { between, number, rangeEnds, rangeText } from "@/lib/format";

/** Where a value stands on a scale, in percent; nothing leaves the scale. */
export function placeOn(scale: { low: number; high: number }, value: number): number {
  const width = scale.high - scale.low;
  if (width <= 0) return 50;
  return Math.min(100, Math.max(0, (100 * (value - scale.low)) / width));
}

function Scale({ gauge }: { gauge: Gauge }) {
  const { scale, healthy, interval, value } = gauge;
  if (scale == null) return null;
  const at = (x: number) => placeOn(scale, x);
  const part = (span: { low: number; high: number }) => ({
    left: `${at(span.low)}%`,
    width: `${Math.max(1, at(span.high) - at(span.low))}%`,
  });
  return (
    <div className="on-scale" title={said(gauge)}>
      <div className="scale" aria-hidden="true">
        {healthy != null && <i className="healthy" style={part(healthy)} />}
        {interval != null && <i className="interval" style={part(interval)} />}
        {value !== null && <i className="at" style={{ left: `${at(value)}%` }} />}
      </div>
      <div className="ends">
        {healthy != null ? (
          <span>healthy {rangeText(healthy)}</span>
        ) : (
          scale.high > scale.low && (
            // What the picture alone is measured by.
            <>
              <span aria-hidden="true">{rangeEnds(scale)[0]}</span>
              <span aria-hidden="true">{rangeEnds(scale)[1]}</span>
            </>
          )
        )}
      </div>
    </div>
  );
}

/** What the marks of a scale mean. */
function said({ healthy, interval }: Gauge): string {
  const marks = [
    "The line is the value",
    interval != null && "grey its 95 % interval",
    healthy != null && `green the healthy range, ${rangeText(healthy)}`,
  ];
  return `${marks.filter((one) => one !== false).join("; ")}.`;
}

/** Minus signs, and no break between a word and its number. */
const besideText = (beside: string): string =>
  beside.replace("-", "−").replace(/\b(was|steps?|to) (?=[−\d])/g, "$1\u00a0");

export function GaugeCard({ gauge }: { gauge: Gauge }) {
  const { title, unit, value, interval, beside, note, missing, level } = gauge;
  return (
    <li className="card gauge" title={gauge.metric}>
      <span className="small muted">
        {title} {unit !== "" && <span className="faint">{unit}</span>}
      </span>
      <span className="value">
        {value === null ? "n/a" : number(value)}
        {interval != null && <small>{between(interval)}</small>}
        {beside !== "" && <small>{besideText(beside)}</small>}
      </span>
      <Scale gauge={gauge} />
      {(note !== "" || missing !== "") && (
        <span className={`small note-of ${level}`}>
          <Sentence text={value === null ? missing : note} />
        </span>
      )}
    </li>
  );
}
