/** A heat map as a table: quantiles of a few of its columns. */
import { AXIS_NAMES, cellText } from "@/charts/axes";
import type { Summary } from "@/charts/heat/bins";
import { whole } from "@/charts/ticks";
import type { View } from "@/features/run/view";
import { number } from "@/lib/format";

import { chosenOf, NAMES } from "./rows";

const MOST_ROWS = 40;

interface DistributionTableProps {
  readonly title: string;
  readonly summaries: readonly Summary[];
  readonly view: View;
  readonly height: number;
}

export function DistributionTable({ title, summaries, view, height }: DistributionTableProps) {
  const rows = chosenOf(summaries, MOST_ROWS);
  return (
    <div className="curve-table" style={{ height }} tabIndex={0}>
      <table>
        <caption>
          {title}, accurate to 1/32 of each value.
          {rows.length < summaries.length && ` ${rows.length} of ${summaries.length} columns.`}
        </caption>
        <thead>
          <tr>
            <th scope="col">{AXIS_NAMES[view.axis]}</th>
            <th scope="col">Values</th>
            {NAMES.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ x, n, quantiles }) => (
            <tr key={x}>
              <th scope="row">{cellText(view.axis, x)}</th>
              <td>{whole(n)}</td>
              {quantiles.map((value, place) => (
                <td key={NAMES[place]}>{number(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
