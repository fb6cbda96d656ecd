/** A breakdown as a picture: its words, and its heat map with the numbers in the cells. Pure. */
import type { ResultsTable } from "@/api/types";
import type { Cell } from "@/charts/export/cells";
import { nameScale } from "@/charts/export/scale";
import { hasAllTexts } from "@/charts/export/svg";
import type { Figure } from "@/components/chart/figure-menu";
import { intervalText, number } from "@/lib/format";

import { strengthIn } from "./breakdown-rows";

/** Text stays readable on the darkest cell. */
export const DARKEST = 0.45;

/** What the levels are values of. */
export const keyOf = (table: ResultsTable): string => table.id.split("/").at(-1) ?? "";

export const wordsOf = (table: ResultsTable, shown = "95 % intervals") => ({
  title: table.name,
  run: `${table.set === "" ? "" : `on ${table.set}; `}${shown}`,
  // The axis below says the rest of "pass@1 by people".
  yLabel: table.name.replace(` by ${keyOf(table)}`, ""),
});

export function heatFigure(table: ResultsTable): Figure {
  const strength = strengthIn(table);
  const cells = table.rows.flatMap((row, i) =>
    row.cells.map((cell, k): Cell => ({
      ...{ x: [k, k + 1], y: [i + 1, i], colour: "--s1" },
      strength: cell === null ? 0 : DARKEST * strength(cell.value),
      texts:
        cell === null
          ? ["n/a"]
          : [number(cell.value), intervalText(cell.interval)].filter((one) => one !== ""),
    })),
  );
  const rows = table.rows.map((row) => (row.is_start ? `${row.name} (start)` : row.name));
  const figure: Figure = {
    ...wordsOf(table),
    ...{ axis: "step", isLog: false, data: [[]], lines: [], bands: [], whiskers: [], range: null },
    yLabel: "",
    cells,
    across: { scale: nameScale(table.columns.map(({ name }) => name)), label: keyOf(table) },
    up: nameScale(rows, true),
  };
  if (hasAllTexts(figure)) return figure;
  return { ...figure, run: wordsOf(table, "numbers and 95 % intervals where they fit").run };
}
