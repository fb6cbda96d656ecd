/** One table of results, or those of one kind with a choice of set. */
import "./results.css";

import { useId } from "react";

import type { ResultsColumn, ResultsRow, ResultsTable } from "@/api/types";
import { colourOf, isDashed, letterOf } from "@/components/seed-groups/group-names";
import { setMark } from "@/components/seed-groups/set-mark";
import { Table, type Column } from "@/components/table";
import { Sentence } from "@/components/text/sentence";
import { plural } from "@/lib/format";

import { Cell } from "./cell";
import type { Family } from "./families";
import { choiceOf, shownOf } from "./families";
import { scaleOf } from "./spread";

/** The place of a run's group among the groups of the answer above, if there are several. */
export type PlaceOf = (runId: string) => number | null;

const SAID_BY_THE_NAME: ReadonlySet<string> = new Set(["", "share", "per token"]);

/** Where sets stand side by side, those that the runs have seen are marked. */
const headingOf = (table: ResultsTable, column: ResultsColumn): string =>
  column.name +
  (SAID_BY_THE_NAME.has(column.unit) ? "" : `, ${column.unit}`) +
  (table.set === "" ? setMark([column]) : "");

/** What stands below the name of a row. A start is one model, unless several seeds made it. */
function belowName({ is_start: isStart, runs }: ResultsRow): string {
  const seeds = runs.length > (isStart ? 1 : 0) ? plural(runs.length, "seed") : "";
  return [isStart ? "start" : "", seeds].filter((one) => one !== "").join(", ");
}

function RowName({ row, placeOf }: { row: ResultsRow; placeOf: PlaceOf }) {
  const place = row.is_start ? null : placeOf(row.runs[0] ?? "");
  const below = belowName(row);
  return (
    <td className="group">
      {place !== null && (
        <b>
          <i
            className={isDashed(place) ? "dashed" : ""}
            style={{ borderColor: `var(${colourOf(place)})` }}
            aria-hidden="true"
          />
          {letterOf(place)}{" "}
        </b>
      )}
      {row.name}
      {below !== "" && <div className="small muted">{below}</div>}
    </td>
  );
}

function Grid({ table, placeOf }: { table: ResultsTable; placeOf: PlaceOf }) {
  const columns: readonly Column[] = [
    "Group",
    ...table.columns.map((column) => [headingOf(table, column), "num"] as const),
  ];
  const scales = table.columns.map((_, place) =>
    scaleOf(table.rows.map((row) => row.cells[place])),
  );
  return (
    <Table columns={columns} items={table.rows}>
      {(row) => (
        <tr key={row.name} className={row.is_start ? "start" : undefined}>
          <RowName row={row} placeOf={placeOf} />
          {row.cells.map((cell, place) => (
            <Cell
              key={table.columns[place]?.name}
              cell={cell}
              seeds={row.runs.length}
              scale={scales[place] ?? null}
            />
          ))}
        </tr>
      )}
    </Table>
  );
}

function SetChoice(props: {
  family: Family;
  shown: ResultsTable;
  onChoose: (set: string) => void;
}) {
  const id = useId();
  return (
    <span className="row set-choice">
      <label htmlFor={id} className="small muted">
        Set
      </label>
      <select
        className="input"
        id={id}
        value={props.shown.set}
        onChange={(event) => props.onChoose(event.target.value)}
      >
        {props.family.tables.map((table) => (
          <option key={table.id} value={table.set}>
            {choiceOf(table)}
          </option>
        ))}
      </select>
    </span>
  );
}

export function OneTable(props: {
  family: Family;
  set: string | null;
  onChoose: (set: string) => void;
  placeOf: PlaceOf;
}) {
  const table = shownOf(props.family, props.set);
  if (table === undefined) return null;
  const said = [table.missing, ...table.remarks].filter((one) => one !== "");
  return (
    <section className="results-table" aria-label={table.name}>
      <div className="row">
        <h3>{table.name}</h3>
        <span className="grow" />
        {props.family.tables.length > 1 && (
          <SetChoice family={props.family} shown={table} onChoose={props.onChoose} />
        )}
      </div>
      <p className="small muted caption">
        <Sentence text={table.caption} />
      </p>
      <Grid table={table} placeOf={props.placeOf} />
      {said.map((one) => (
        <p key={one} className="small remark fewer">
          <Sentence text={one} />
        </p>
      ))}
    </section>
  );
}
