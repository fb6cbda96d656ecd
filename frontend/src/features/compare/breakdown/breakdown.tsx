/** Which group is right where: by a key of the prompts' metadata, as bars and as a heat map. */
import "./breakdown.css";

import { useQuery } from "@tanstack/react-query";

import { resultsOfRunsQuery } from "@/api/measured/results";
import type { ResultsCell, ResultsRow, ResultsTable, Run, SeedGroups } from "@/api/types";
import { BarLegend, Bars } from "@/charts/bars/bars";
import { pictureOfBars } from "@/charts/bars/picture";
import { FigureMenu, type Figure } from "@/components/chart/figure-menu";
import { Segmented } from "@/components/segmented";
import { colourOf } from "@/components/seed-groups/group-names";
import { setMark } from "@/components/seed-groups/set-mark";
import { Table, type Column } from "@/components/table";
import { Sentence } from "@/components/text/sentence";
import { intervalText, number } from "@/lib/format";
import { useView } from "@/features/compare/view";
import { partsOfComparison } from "@/features/compare/whose";

import { csvRows, levelsOf, seriesOf, strengthIn } from "./breakdown-rows";
import { DARKEST, heatFigure, keyOf, wordsOf } from "./heat-figure";

const HEIGHT = 280;
const WAYS = [
  ["bars", "Bars"],
  ["heat", "Heat map"],
] as const;
type Way = (typeof WAYS)[number][0];

interface Compared {
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
}

export function Breakdown({ answer, runs }: Compared) {
  const { runIds, breakdown, breakdownAs, set } = useView();
  const query = useQuery(resultsOfRunsQuery(runIds));
  const tables = query.data?.tables.filter((table) => table.kind === "breakdown") ?? [];
  const shown = tables.find((table) => table.id === breakdown) ?? tables[0];
  // Only evaluations that were asked for a breakdown have one. Why there is no answer, its tables say.
  if (shown === undefined) return null;
  const way: Way = breakdownAs === "heat" ? "heat" : "bars";
  return (
    <section className="card chart breakdown" aria-label="Breakdown">
      <div className="row">
        <h3>{shown.name}</h3>
        <span className="grow" />
        {tables.length > 1 && (
          <select
            className="input"
            aria-label="Set and key"
            value={shown.id}
            onChange={(event) => set({ breakdown: event.target.value })}
          >
            {tables.map((table) => (
              <option key={table.id} value={table.id}>
                {table.name}: {table.set}
                {setMark(table.columns)}
              </option>
            ))}
          </select>
        )}
        <Segmented
          label="Show as"
          value={way}
          options={WAYS}
          onChange={(next) => set({ as: next === "bars" ? null : next })}
        />
        <FigureMenu
          title={shown.name}
          of={[...partsOfComparison(answer.groups, runs), shown.name, shown.set]}
          figure={() => (way === "bars" ? barsFigure(shown, answer) : heatFigure(shown))}
          rows={() => csvRows(shown)}
          rowsText="each group and value"
        />
      </div>
      <p className="small muted">
        <Sentence text={shown.caption} />
      </p>
      {way === "bars" ? <AsBars table={shown} answer={answer} /> : <AsHeatMap table={shown} />}
      {[shown.missing, ...shown.remarks]
        .filter((one) => one !== "")
        .map((one) => (
          <p key={one} className="small muted missing">
            <Sentence text={one} />
          </p>
        ))}
    </section>
  );
}

/** The series of a table in the colours that the groups have everywhere. */
function barsOf(table: ResultsTable, answer: SeedGroups) {
  const colour = (row: ResultsRow) => {
    const place = answer.groups.findIndex((group) => group.runs.includes(row.runs[0] ?? ""));
    return row.is_start || place < 0 ? "--ink-3" : colourOf(place);
  };
  return { levels: levelsOf(table), series: seriesOf(table, colour), levelName: keyOf(table) };
}

function barsFigure(table: ResultsTable, answer: SeedGroups): Figure {
  const { levels, series, levelName } = barsOf(table, answer);
  return { ...pictureOfBars(levels, series, levelName), ...wordsOf(table) };
}

function AsBars({ table, answer }: { table: ResultsTable; answer: SeedGroups }) {
  const { levels, series, levelName } = barsOf(table, answer);
  return (
    <>
      <Bars
        levels={levels}
        series={series}
        levelName={levelName}
        label={`${table.name}, with 95 % intervals`}
        height={HEIGHT}
      />
      <BarLegend series={series} />
    </>
  );
}

function HeatCell({ cell, strength }: { cell: ResultsCell | null; strength: number }) {
  if (cell === null) return <td className="num faint">n/a</td>;
  const share = Math.round(100 * DARKEST * strength);
  return (
    <td
      className="num nowrap"
      style={{ background: `color-mix(in srgb, var(--s1) ${share}%, var(--surface))` }}
    >
      {number(cell.value)}
      <div className="small">{intervalText(cell.interval)}</div>
    </td>
  );
}

function AsHeatMap({ table }: { table: ResultsTable }) {
  const strength = strengthIn(table);
  const columns: readonly Column[] = [
    "Group",
    ...table.columns.map((column) => [column.name, "num"] as const),
  ];
  return (
    <Table columns={columns} items={table.rows}>
      {(row) => (
        <tr key={row.name}>
          <th scope="row">
            {row.name}
            {row.is_start && <span className="small muted"> start</span>}
          </th>
          {row.cells.map((cell, place) => (
            <HeatCell
              key={table.columns[place]?.name}
              cell={cell}
              strength={cell === null ? 0 : strength(cell.value)}
            />
          ))}
        </tr>
      )}
    </Table>
  );
}
