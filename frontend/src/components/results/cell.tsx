/** One cell of a table of results: the value, its interval and its seeds on the column's scale. */
import type { ResultsCell } from "@/api/types";
import { estimateText } from "@/components/seed-groups/estimate";
import { between, number, plural, signed } from "@/lib/format";

import { shareOf, type Scale } from "./spread";

const WIDTH = 96;
const HEIGHT = 12;
const EDGE = 4;

function Spread({ cell, scale }: { cell: ResultsCell; scale: Scale }) {
  const x = (value: number) => EDGE + shareOf(value, scale) * (WIDTH - 2 * EDGE);
  const middle = HEIGHT / 2;
  return (
    <svg className="spread" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <line className="rail" x1={0} x2={WIDTH} y1={middle} y2={middle} />
      {cell.interval != null && (
        <line
          className={cell.interval_of === "seeds" ? "of-seeds" : "of-prompts"}
          x1={x(cell.interval.low)}
          x2={x(cell.interval.high)}
          y1={middle}
          y2={middle}
        />
      )}
      {cell.points.map((point, place) => (
        <circle key={place} cx={x(point.value)} cy={middle} r={2.5} />
      ))}
    </svg>
  );
}

const changeText = (change: NonNullable<ResultsCell["change"]>): string =>
  `${signed(change.value)} compared with the start` +
  (change.interval == null ? "" : ` ${between(change.interval)}`);

/** What to know of the seeds below the numbers. */
function Notes({ cell, seeds }: { cell: ResultsCell; seeds: number }) {
  return (
    <>
      {cell.is_iqm && <div className="faint small">{estimateText(true, cell.n)}</div>}
      {cell.interval_of === "prompts" && <div className="faint small">by prompt</div>}
      {cell.interval_of === null && <div className="faint small">no interval</div>}
      {cell.n < seeds && (
        <div className="fewer small">
          {cell.n} of {seeds} seeds
        </div>
      )}
      {cell.n > Math.max(seeds, 1) && !cell.is_iqm && (
        <div className="faint small">{plural(cell.n, "seed")}</div>
      )}
      {cell.standing !== "" && <div className="fewer small">{cell.standing}</div>}
    </>
  );
}

/** `seeds`: how many the row has; 0 for a model that no run made. */
export function Cell(props: {
  cell: ResultsCell | null | undefined;
  seeds: number;
  scale: Scale | null;
}) {
  const { cell, seeds, scale } = props;
  if (cell == null) return <td className="num faint">n/a</td>;
  const isBetter = cell.change?.is_better === true;
  const seedText = cell.points.map((point) => number(point.value)).join(", ");
  return (
    <td className="num nowrap" title={cell.change == null ? undefined : changeText(cell.change)}>
      <span className={cell.is_best ? "best" : undefined}>
        {number(cell.value)}
        {cell.is_best && <span className="sr-only"> best of the column</span>}
      </span>
      {isBetter && (
        <span className="better">
          <span aria-hidden="true"> ↑</span>
          <span className="sr-only"> better than the start</span>
        </span>
      )}
      {cell.interval != null && <div className="faint">{between(cell.interval)}</div>}
      {scale !== null && <Spread cell={cell} scale={scale} />}
      {cell.points.length > 1 && <span className="sr-only">Seeds: {seedText}.</span>}
      <Notes cell={cell} seeds={seeds} />
      {cell.change != null && <span className="sr-only">{changeText(cell.change)}.</span>}
    </td>
  );
}
