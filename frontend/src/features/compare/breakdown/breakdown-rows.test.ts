import { describe, expect, it } from "vitest";

import type { ResultsCell, ResultsColumn, ResultsRow, ResultsTable } from "@/api/types";

import { csvRows, levelsOf, seriesOf, strengthIn } from "./breakdown-rows";
import { heatFigure } from "./heat-figure";

const cell = (value: number): ResultsCell => ({
  n: 2,
  value,
  interval: { low: value - 0.1, high: value + 0.1 },
  interval_of: "prompts",
  is_iqm: false,
  points: [value, value].map((one) => ({
    run: "r",
    seed: 0,
    measured_by: [],
    value: one,
    interval: null,
  })),
  change: null,
  standing: "",
  is_best: false,
});
const column = (name: string): ResultsColumn => ({
  name,
  metric: "m",
  unit: "share",
  direction: "higher",
  is_mean: name === "Mean",
  is_trained: false,
  is_partly: false,
  has_chosen: false,
  is_unchecked: false,
});
const row = (name: string, cells: readonly (ResultsCell | null)[]): ResultsRow => ({
  name,
  is_start: name === "sft",
  runs: [],
  config: {},
  config_sha256: null,
  cells: [...cells],
});
const TABLE: ResultsTable = {
  id: "breakdown/test/people",
  kind: "breakdown",
  name: "pass@1 by people",
  set: "test",
  caption: "",
  columns: ["2", "3", "Mean"].map(column),
  rows: [row("sft", [cell(0.2), null, null]), row("grpo", [cell(0.8), cell(0.4), cell(0.6)])],
  missing: "",
  remarks: [],
};

describe("a breakdown", () => {
  it("has a bar for each level of each row, and none for the mean", () => {
    expect(levelsOf(TABLE)).toEqual(["2", "3"]);
    expect(
      seriesOf(TABLE, () => "--s1").map((one) => [
        one.name,
        one.isHollow,
        one.bars.map((bar) => bar?.value ?? null),
      ]),
    ).toEqual([
      ["sft (start)", true, [0.2, null]],
      ["grpo", false, [0.8, 0.4]],
    ]);
  });
  it("is CSV of what was measured", () => {
    const rows = csvRows(TABLE);
    expect(rows.length).toBe(1 + 4);
    expect(rows[1]?.slice(0, 4)).toEqual(["sft", "true", "2", 0.2]);
    expect(rows[4]?.at(-1)).toBe("0.6 0.6");
  });
  it("has a heat map that says so where its cells have no room for all numbers", () => {
    expect(heatFigure(TABLE).run).toBe("on test; 95 % intervals");
    const names = Array.from({ length: 12 }, (_, i) => String(i));
    const rows = [
      row(
        "grpo",
        names.map(() => cell(0.8)),
      ),
    ];
    expect(heatFigure({ ...TABLE, columns: names.map(column), rows }).run).toBe(
      "on test; numbers and 95 % intervals where they fit",
    );
  });
  it("is darker where the value is greater", () => {
    expect(strengthIn(TABLE)(0.4)).toBeCloseTo(0.5);
    expect(strengthIn({ ...TABLE, rows: [] })(1)).toBe(0);
  });
});
