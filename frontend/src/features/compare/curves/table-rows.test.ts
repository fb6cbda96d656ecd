import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/seed-groups";
import { curveOf } from "@/charts/live-curves";
import { explainer } from "@/components/metrics/explained";

import { MOST_ROWS, tableOf } from "./table-rows";

const group: GroupCurve = {
  ...{ group: 0, name: "loss", is_iqm: false, x: [10, 20, 30], n: [3, 3, 2], n_nan: [0, 0, 1] },
  ...{ value: [1, 2, null], low: [0.5, 1.5, null], high: [1.5, 2.5, null] },
};

const run = (x: number[], y: (number | null)[], points = 1) => ({
  ...{ run: "a", group: 1, explained: explainer([])("loss"), low: null, high: null },
  curve: curveOf({
    ...{ n: x.length, x, n_points: x.map(() => points), n_nan: x.map(() => 0) },
    ...{ first: null, newest: null },
    y: { low: 0, unit: 1, min: y, max: y, mean: y, last: y },
  }),
});

describe("compared curves as rows", () => {
  it("have what was measured there, and nothing of an earlier or a later place", () => {
    const { rows, n } = tableOf([group], [run([15, 40], [7, 8])], null);
    expect(n).toBe(5);
    expect(rows.map(({ x }) => x)).toEqual([10, 15, 20, 30, 40]);
    expect(rows.map(({ runs }) => runs[0])).toEqual([null, 7, null, null, 8]);
    expect(rows.map(({ groups }) => groups[0]?.value)).toEqual([1, undefined, 2, null, undefined]);
    expect(rows[3]?.groups[0]).toEqual({ value: null, low: null, high: null, n: 2, nNan: 1 });
  });
  it("have the mean of the bucket that holds the place", () => {
    const { rows } = tableOf([group], [run([8, 24], [4, 6], 16)], null);
    expect(rows.map(({ x }) => x)).toEqual([8, 10, 20, 24, 30]);
    expect(rows.map(({ runs }) => runs[0])).toEqual([4, 6, 6, 6, null]);
  });
  it("take no points that share a place for a bucket", () => {
    const shared = run([5, 12, 24], [1, 2, 3]);
    const curve = { ...shared.curve, n: [1, 1, 2] };
    const { rows } = tableOf([group], [{ ...shared, curve }], null);
    expect(rows.find(({ x }) => x === 20)?.runs).toEqual([null]);
  });
  it("are those of the part that is shown", () => {
    const { rows } = tableOf([group], [run([5, 20], [4, 6])], [15, 21]);
    expect(rows).toEqual([
      { x: 20, groups: [{ value: 2, low: 1.5, high: 2.5, n: 3, nNan: 0 }], runs: [6] },
    ]);
  });
  it("are few, with the first and the last", () => {
    const x = Array.from({ length: 1000 }, (_, i) => i);
    const { rows, n } = tableOf([], [run(x, x)], null);
    expect([rows.length, n]).toEqual([MOST_ROWS, 1000]);
    expect([rows[0]?.x, rows.at(-1)?.x]).toEqual([0, 999]);
  });
  it("are none without curves", () => {
    expect(tableOf([], [], null)).toEqual({ rows: [], n: 0 });
  });
});
