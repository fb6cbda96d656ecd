import { describe, expect, it } from "vitest";

import type { SeedGroup } from "@/api/types";

import { allSteps, chosenInstead, MOST_COLUMNS, shownRuns } from "./shown-runs";

const group = (...runs: string[]): SeedGroup => ({
  name: runs.join(),
  runs,
  config: {},
  left_out: [],
  values: [],
  value: null,
  interval: null,
  is_iqm: false,
  apart: null,
  why_open: "",
});
const GROUPS = [group("a0", "a1"), group("b0", "b1")];

describe("the runs side by side", () => {
  it("are the first of each group, or the chosen one", () => {
    expect(shownRuns(GROUPS, [], new Set()).map(({ run }) => run)).toEqual(["a0", "b0"]);
    expect(shownRuns(GROUPS, ["b1"], new Set()).map(({ run }) => run)).toEqual(["a0", "b1"]);
  });
  it("are none that is hidden", () => {
    expect(shownRuns(GROUPS, ["a0"], new Set(["a0", "b0", "b1"]))).toEqual([
      { group: 0, run: "a1" },
    ]);
  });
  it("are no more than one request answers", () => {
    const many = Array.from({ length: 20 }, (_, i) => group(`r${i}`));
    expect(shownRuns(many, [], new Set())).toHaveLength(MOST_COLUMNS);
  });
  it("are chosen once for each group, and the first needs no choice", () => {
    const chosen = chosenInstead(GROUPS, ["a1"], { group: 1, run: "b1" });
    expect(chosen).toEqual(["a1", "b1"]);
    expect(chosenInstead(GROUPS, chosen, { group: 0, run: "a0" })).toEqual(["b1"]);
  });
});

it("counts the steps of all columns", () => {
  expect(allSteps([{ steps: [0, 20] }, { steps: [5, 20] }])).toEqual([0, 5, 20]);
});
