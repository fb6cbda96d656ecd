import { describe, expect, it } from "vitest";

import type { SeedGroup } from "@/api/types";

import { unrecordedWords, valuesOf } from "./environment-words";

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

describe("the environment of a group", () => {
  const values = [
    { value: "2.1", runs: ["a", "b"] },
    { value: "2.2", runs: ["b", "c"] },
  ];
  it("is one value where all runs have it", () => {
    expect(valuesOf(values, group("c"))).toEqual(["2.2"]);
  });
  it("counts runs where it is not, attempts of one run included", () => {
    expect(valuesOf(values, group("a", "b"))).toEqual(["2.1 (2 of 2 runs)", "2.2 (1 of 2 runs)"]);
  });
  it("is a dash where nothing is known, and a short hash", () => {
    expect(valuesOf(values, group("d"))).toEqual(["–"]);
    expect(valuesOf([{ value: "a".repeat(40), runs: ["d"] }], group("d"))).toEqual(["aaaaaaaaaa"]);
  });
});

describe("what was not recorded", () => {
  it("is named with the runs that did not", () => {
    const unrecorded = { "code.commit": ["a"], "code.sha256": ["a"], python: ["a", "b"] };
    expect(unrecordedWords({ items: [], unrecorded }, 2)).toEqual([
      "Not recorded by 1 run: `code.commit`, `code.sha256`.",
      "Not recorded by any of these runs: `python`.",
    ]);
  });
  it("says so of runs of which nothing is known", () => {
    const [first] = unrecordedWords({ items: [], unrecorded: { environment: ["a"] } }, 2);
    expect(first).toContain("No environment was recorded for 1 run");
  });
});
