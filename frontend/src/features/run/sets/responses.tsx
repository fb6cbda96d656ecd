/** What more responses to a prompt bring, by their number k: drawn or as a table. */
import { useState } from "react";

import type { MeasuredSet, Run } from "@/api/types";
import { LinesByK } from "@/charts/by-k/lines-by-k";
import { pictureOfLinesByK } from "@/charts/by-k/picture";
import { ksOf, type LineByK } from "@/charts/by-k/places";
import { FigureMenu } from "@/components/chart/figure-menu";
import { Table, type Column } from "@/components/table";
import { partsOfRun } from "@/lib/files/file-name";
import { intervalText, number } from "@/lib/format";

import { csvRows, linesByK, setsByK, tokensAt, unitByK } from "./by-responses";

const HEIGHT = 240;

export function Responses({ run, sets }: { run: Run; sets: readonly MeasuredSet[] }) {
  const [wanted, setWanted] = useState("");
  const [isTable, setTable] = useState(false);
  const having = setsByK(sets);
  const set = having.find(({ label }) => label === wanted) ?? having[0];
  if (set === undefined) return null;
  const lines = linesByK(set);
  const names = lines.map(({ name }) => name).join(", ");
  return (
    <section className="by-part" aria-label="By responses (k)">
      <div className="row">
        <h3>By responses (k)</h3>
        <span className="grow" />
        {having.length > 1 && (
          <select
            className="input"
            aria-label="Set by responses"
            value={set.label}
            onChange={(event) => setWanted(event.target.value)}
          >
            {having.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        )}
        <button
          type="button"
          className="btn small"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          Table
        </button>
        <FigureMenu
          title="By responses (k)"
          of={[...partsOfRun(run), set.label, "by responses"]}
          figure={() => ({
            ...pictureOfLinesByK(lines),
            ...{ title: `${names} on ${set.label}`, yLabel: unitByK(set) },
            run: `${run.name}; 95 % intervals by prompt`,
          })}
          rows={() => csvRows(set)}
          rowsText="each measure and k"
        />
      </div>
      {isTable ? (
        <Numbers lines={lines} set={set} />
      ) : (
        <LinesByK
          lines={lines}
          label={`${names} on ${set.label} by number of responses, with 95 % intervals by prompt`}
          unit={unitByK(set)}
          height={HEIGHT}
        />
      )}
      {tokensAt(set, 1) !== null && (
        <p className="small muted">
          A response has {tokensText(set, 1)} tokens in the mean; k of them cost k times as many.
        </p>
      )}
    </section>
  );
}

function tokensText(set: MeasuredSet, k: number): string {
  const tokens = tokensAt(set, k);
  return tokens === null ? "n/a" : number(tokens);
}

function Numbers({ lines, set }: { lines: readonly LineByK[]; set: MeasuredSet }) {
  const columns: readonly Column[] = [
    "Responses (k)",
    ["Tokens of k responses", "num"],
    ...lines.map(({ name }) => [name, "num"] as const),
  ];
  return (
    <Table columns={columns} items={ksOf(lines)}>
      {(k) => (
        <tr key={k}>
          <th scope="row">{k}</th>
          <td className="num">{tokensText(set, k)}</td>
          {lines.map(({ name, points }) => {
            const one = points.find((point) => point.k === k);
            return one === undefined ? (
              <td key={name} className="num faint">
                n/a
              </td>
            ) : (
              <td key={name} className="num nowrap">
                {number(one.value)}
                <div className="faint small">{intervalText(one.interval)}</div>
              </td>
            );
          })}
        </tr>
      )}
    </Table>
  );
}
