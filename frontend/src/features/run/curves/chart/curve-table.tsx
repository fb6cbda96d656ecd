/** A chart as a table: few rows, each says what it is a bucket of. */
import { AXIS_NAMES, cellText } from "@/charts/axes";
import { whole } from "@/charts/ticks";
import type { Drawn } from "@/components/chart/columns";
import { unitOf } from "@/components/metrics/explained";
import type { View } from "@/features/run/view";
import { number, rangeEnds } from "@/lib/format";

import { tableOf, type Row, type Rows } from "./table-rows";

/** Of buckets the greatest x is known, not the least. */
function placesText({ isBucketed }: Rows, view: View, { from, to }: Row): string {
  const [first, last] = [cellText(view.axis, from), cellText(view.axis, to)];
  if (isBucketed) return `up to ${last}`;
  return from === to ? last : `${first} – ${last}`;
}

const value = (one: number | null) => (one === null ? "NaN" : number(one));

function captionOf({ explained }: Drawn, { rows, n, areBuckets, isBucketed }: Rows): string {
  const unit = unitOf(explained);
  const of = `${explained.title}${unit === "" ? "" : `, ${unit}`}.`;
  if (!areBuckets) return isBucketed ? `${of} Each row summarizes one bucket of values.` : of;
  const size = rows[0]?.n ?? 0;
  return `${of} Each row summarizes ${size} of ${whole(n)} ${isBucketed ? "buckets" : "values"}.`;
}

export function CurveTable(props: { drawn: Drawn; view: View; height: number }) {
  const { drawn, view, height } = props;
  const table = tableOf(drawn, view.zoom);
  const { rows, areBuckets, hasInterval } = table;
  const isSpread = areBuckets || table.isBucketed;
  return (
    <div className="curve-table" style={{ height }} tabIndex={0}>
      <table>
        <caption>{captionOf(drawn, table)}</caption>
        <thead>
          <tr>
            <th scope="col">{AXIS_NAMES[view.axis]}</th>
            {isSpread ? (
              <>
                <th scope="col">Values</th>
                <th scope="col">Mean</th>
                <th scope="col">Least</th>
                <th scope="col">Greatest</th>
                <th scope="col">Last</th>
              </>
            ) : (
              <th scope="col">Value</th>
            )}
            {hasInterval && <th scope="col">95 % interval</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.from}>
              <th scope="row">
                {placesText(table, view, row)}
                {row.nNan > 0 && <span className="pill bad">{row.nNan} NaN</span>}
              </th>
              {isSpread && <td>{whole(row.nValues)}</td>}
              {isSpread ? (
                [row.mean, row.min, row.max, row.last].map((one, i) => (
                  <td key={i}>{value(one)}</td>
                ))
              ) : (
                <td>{value(row.last)}</td>
              )}
              {hasInterval && <td>{intervalText(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p className="muted small">No value in the part that is shown.</p>}
    </div>
  );
}

const intervalText = ({ low, high }: Row): string =>
  low === null || high === null ? "" : rangeEnds({ low, high }).join(" to ");
