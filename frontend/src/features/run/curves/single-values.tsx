/** Metrics with one value: a line of a table tells more than a chart with one dot. */
import { AXIS_NAMES, cellText } from "@/charts/axes";
import type { Drawn } from "@/components/chart/columns";
import { AboutMetric } from "@/components/metrics/about-metric";
import { unitOf } from "@/components/metrics/explained";
import { Table, type Column } from "@/components/table";
import type { View } from "@/features/run/view";
import { number, rangeEnds } from "@/lib/format";

/** How many are shown before somebody asks for all. */
const FIRST = 24;

function intervalText({ low, high }: Drawn): string {
  const [from, to] = [low?.last[0] ?? null, high?.last[0] ?? null];
  return from === null || to === null ? "" : rangeEnds({ low: from, high: to }).join(" to ");
}

function Row({ drawn, view }: { drawn: Drawn; view: View }) {
  const { explained, curve } = drawn;
  const value = curve.last[0] ?? null;
  return (
    <tr>
      <th scope="row">
        <div className="metric-name">
          {explained.title} <AboutMetric explained={explained} />
        </div>
        {explained.title !== explained.name && <span className="mono faint">{explained.name}</span>}
      </th>
      <td className="num mono" data-unit={unitOf(explained)}>
        {value === null ? <span className="pill bad">NaN</span> : number(value)}
      </td>
      <td className="small muted">{unitOf(explained)}</td>
      <td className="num mono muted">{intervalText(drawn)}</td>
      <td className="num mono muted" data-axis={view.axis}>
        {cellText(view.axis, curve.x[0] ?? 0)}
      </td>
    </tr>
  );
}

export function SingleValues({ values, view }: { values: readonly Drawn[]; view: View }) {
  if (values.length === 0) return null;
  const columns: readonly Column[] = [
    "Metric",
    ["Value", "num"],
    "Unit",
    ["95 % interval", "num"],
    [AXIS_NAMES[view.axis], "num"],
  ];
  return (
    <section className="single-values">
      <h2>Single values</h2>
      <div className="card">
        <Table columns={columns} items={values} first={FIRST}>
          {(drawn) => <Row key={drawn.explained.name} drawn={drawn} view={view} />}
        </Table>
      </div>
    </section>
  );
}
