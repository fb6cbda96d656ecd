/** A table by a key of the prompts' metadata as bars, as a heat map and as lines of CSV. Pure. */
import type { ResultsCell, ResultsRow, ResultsTable } from "@/api/types";
import type { BarSeries } from "@/charts/bars/places";
import type { Cell } from "@/lib/files/csv";

/** The levels alone: their mean is no level. */
export const levelsOf = (table: ResultsTable): readonly string[] =>
  table.columns.filter((column) => !column.is_mean).map((column) => column.name);

export const levelCells = (table: ResultsTable, row: ResultsRow): readonly (ResultsCell | null)[] =>
  row.cells.filter((_, place) => table.columns[place]?.is_mean !== true);

/** A bar for each row; that of a start is hollow. */
export const seriesOf = (
  table: ResultsTable,
  colourOf: (row: ResultsRow) => string,
): readonly BarSeries[] =>
  table.rows.map((row) => ({
    name: row.is_start ? `${row.name} (start)` : row.name,
    colour: colourOf(row),
    isHollow: row.is_start,
    bars: levelCells(table, row).map(
      (cell) =>
        cell && {
          value: cell.value,
          low: cell.interval?.low ?? null,
          high: cell.interval?.high ?? null,
        },
    ),
  }));

export const HEADS = [
  "group",
  "is_start",
  "level",
  "value",
  "low",
  "high",
  "interval_of",
  "n",
  "seeds",
] as const;

/** A line for each group and level that was measured. */
export const csvRows = (table: ResultsTable): readonly (readonly Cell[])[] => [
  HEADS,
  ...table.rows.flatMap((row) =>
    row.cells.flatMap((cell, place) =>
      cell === null
        ? []
        : [
            [
              row.name,
              String(row.is_start),
              table.columns[place]?.name ?? "",
              cell.value,
              cell.interval?.low ?? "",
              cell.interval?.high ?? "",
              cell.interval_of ?? "",
              cell.n,
              cell.points.map((point) => point.value).join(" "),
            ],
          ],
    ),
  ),
];

/** How strong a value is among all of the table, from 0 to 1. */
export function strengthIn(table: ResultsTable): (value: number) => number {
  const values = table.rows.flatMap((row) =>
    row.cells.flatMap((cell) => (cell === null ? [] : [cell.value])),
  );
  const low = Math.min(0, ...values);
  const high = Math.max(...values);
  return (value) => (high > low ? (value - low) / (high - low) : 0);
}
