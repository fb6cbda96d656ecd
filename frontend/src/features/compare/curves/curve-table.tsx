/** Compared curves as a table: groups with a mean as one column, runs of others as one each. */
import type { GroupCurve } from "@/api/seed-groups";
import type { Run } from "@/api/types";
import { AXIS_NAMES, cellText } from "@/charts/axes";
import type { Axis, Zoom } from "@/charts/live-curves";
import { whole } from "@/charts/ticks";
import { unitOf, type Explained } from "@/components/metrics/explained";
import { letterOf } from "@/components/seed-groups/group-names";
import { between, number, plural } from "@/lib/format";

import { hasMean, type RunCurve } from "./columns";
import { tableOf, type GroupCell, type Rows } from "./table-rows";

interface CurveTableProps {
  readonly explained: Explained;
  readonly groups: readonly GroupCurve[];
  readonly shown: readonly RunCurve[];
  readonly runs: ReadonlyMap<string, Run>;
  readonly axis: Axis;
  readonly zoom: Zoom;
  readonly height: number;
}

function captionOf(explained: Explained, { rows, n }: Rows): string {
  const unit = unitOf(explained);
  const of = `${explained.title}${unit === "" ? "" : `, ${unit}`}.`;
  return rows.length < n ? `${of} ${rows.length} of ${whole(n)} rows are shown.` : of;
}

export function CurveTable(props: CurveTableProps) {
  const { explained, axis, zoom, runs, height } = props;
  const groups = props.groups.filter(hasMean);
  const withMean = new Set(groups.map(({ group }) => group));
  const single = props.shown.filter(({ group }) => !withMean.has(group));
  const table = tableOf(groups, single, zoom);
  return (
    <div className="curve-table" style={{ height }} tabIndex={0}>
      <table>
        <caption>{captionOf(explained, table)}</caption>
        <thead>
          <tr>
            <th scope="col">{AXIS_NAMES[axis]}</th>
            {groups.map(({ group, is_iqm: isIqm }) => (
              <th key={group} scope="col">
                {letterOf(group)}, {isIqm ? "IQM" : "mean"} [95 %]
              </th>
            ))}
            {single.map(({ run, group }) => (
              <th key={run} scope="col">
                {letterOf(group)}, {runs.get(run)?.name ?? run}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr key={row.x}>
              <th scope="row">{cellText(axis, row.x)}</th>
              {row.groups.map((cell, place) => (
                <td key={groups[place]?.group}>{groupText(cell)}</td>
              ))}
              {row.runs.map((value, place) => (
                <td key={single[place]?.run}>{value === null ? "–" : number(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rows.length === 0 && (
        <p className="muted small">
          {zoom === null ? "No values yet." : "No value in the part that is shown."}
        </p>
      )}
    </div>
  );
}

function groupText(cell: GroupCell | null): string {
  if (cell === null) return "–";
  const { value, low, high, n, nNan } = cell;
  const missing = nNan === 0 ? "" : `, ${whole(nNan)} NaN`;
  if (value === null) return `${plural(n, "seed")}, no mean${missing}`;
  const interval = low === null || high === null ? "" : ` ${between({ low, high })}`;
  return `${number(value)}${interval}, n = ${n}${missing}`;
}
