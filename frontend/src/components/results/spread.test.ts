import { describe, expect, it } from "vitest";

import type { ResultsCell, ResultsTable } from "@/api/types";

import { familiesOf, shownOf } from "./families";
import { scaleOf, shareOf } from "./spread";

const cell = (values: readonly number[], interval: ResultsCell["interval"]): ResultsCell => ({
  n: values.length,
  value: values[0] ?? 0,
  interval,
  interval_of: interval === null ? null : "seeds",
  is_iqm: false,
  points: values.map((value) => ({ run: "r", seed: 0, measured_by: [], value, interval: null })),
  change: null,
  standing: "",
  is_best: false,
});

describe("the scale of a column", () => {
  it("reaches from the least to the greatest of all seeds and intervals", () => {
    const scale = scaleOf([cell([0.4, 0.6], null), null, cell([0.5], { low: 0.2, high: 0.8 })]);
    expect(scale).toEqual({ low: 0.2, high: 0.8 });
    if (scale !== null) expect(shareOf(0.5, scale)).toBeCloseTo(0.5);
  });
  it("is none where there is one value or nothing", () => {
    expect(scaleOf([cell([0.4], null)])).toBeNull();
    expect(scaleOf([null, undefined])).toBeNull();
  });
});

describe("tables of one kind", () => {
  const table = (name: string, set: string) =>
    ({ id: `${name}/${set}`, name, set }) as ResultsTable;

  it("are one with a choice of set", () => {
    const families = familiesOf([table("Score", "a"), table("Score", "b"), table("By set", "")]);
    expect(families.map((one) => [one.name, one.tables.length])).toEqual([
      ["Score", 2],
      ["By set", 1],
    ]);
    const [first, last] = families;
    if (first === undefined || last === undefined) throw new Error("two families");
    expect(shownOf(first, "b")?.id).toBe("Score/b");
    expect(shownOf(first, "gone")?.id).toBe("Score/a");
    expect(shownOf(last, "b")?.id).toBe("By set/");
  });
});
