import { describe, expect, it } from "vitest";

import type { RunSets } from "@/api/types";

import { barsOf, brokenDown, csvRows, isPlain, keysOf, shownMetrics } from "./sets-rows";

const measure = (name: string, value: number, metric = `eval/${name}`) => ({
  measure: name,
  metric,
  value,
  interval: { low: value - 0.1, high: value + 0.1 },
});
const set = (label: string, parts: readonly (readonly [string, number])[]) => ({
  name: label,
  label,
  snapshot_id: "s",
  split: "all",
  n_prompts: 10,
  samples_per_prompt: 4,
  sampling: "",
  passes_by_learned_score: false,
  ...{ is_trained: false, is_partly: false, has_chosen: false, is_unchecked: false },
  measures: [measure("pass@1", 0.5), measure("length", 9)],
  breakdowns: [
    {
      key: "people",
      parts: parts.map(([value, rate]) => ({
        value,
        measures: [measure("pass@1", rate, `eval/pass@1/people.${value}`)],
      })),
    },
  ],
});
const SETS: RunSets = {
  measures: ["pass@1", "length"].map((one) => ({ measure: one, title: one, unit: "" })),
  sets: [set("a", [["2", 0.9], ["10", 0.1]]), set("b", [["3", 0.4]]), set("c", [])],
}; // prettier-ignore

describe("the sets of a run", () => {
  it("have bars at all levels of any set, numbers in their order", () => {
    const { levels, series } = barsOf(SETS, "people", "pass@1");
    expect(levels).toEqual(["2", "3", "10"]);
    expect(series.map((one) => [one.name, one.bars.map((bar) => bar?.value ?? null)])).toEqual([
      ["a", [0.9, null, 0.1]],
      ["b", [null, 0.4, null]],
    ]);
  });
  it("have a line for each bar in a file", () => {
    const { levels, series } = barsOf(SETS, "people", "pass@1");
    const rows = csvRows(levels, series, "people").map((row) => row.slice(0, 3));
    expect(rows).toEqual([
      ["set", "people", "value"],
      ["a", "2", 0.9],
      ["a", "10", 0.1],
      ["b", "3", 0.4],
    ]);
  });
  it("are broken down by what they have", () => {
    expect(keysOf(SETS)).toEqual(["people"]);
    expect(brokenDown(SETS, "people")).toEqual(["pass@1"]);
    expect(shownMetrics(SETS.sets).has("eval/pass@1/people.10")).toBe(true);
  });
});

it("is plain where a training run has neither a named set nor parts", () => {
  const own = (parts: readonly (readonly [string, number])[]) => ({
    ...SETS,
    sets: [{ ...set("held-out", parts), name: "" }],
  });
  const policy = { method: "policy_gradient" } as const;
  expect(isPlain(policy, own([]))).toBe(true);
  expect(isPlain(policy, own([["2", 0.9]]))).toBe(false);
  expect(isPlain(policy, { ...SETS, sets: [set("named", [])] })).toBe(false);
  expect(isPlain({ method: "evaluate" }, own([]))).toBe(false);
});
