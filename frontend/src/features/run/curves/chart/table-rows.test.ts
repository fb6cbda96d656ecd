import { describe, expect, it } from "vitest";

import type { Curve } from "@/charts/live-curves";
import type { Drawn } from "@/components/chart/columns";
import { explainer } from "@/components/metrics/explained";
import { curveAt, curveOfSteps } from "@testing/curves";

import { MOST_ROWS, tableOf } from "./table-rows";

const drawn = (one: Curve, low: Curve | null = null, high: Curve | null = null): Drawn => ({
  ...{ explained: explainer([])("eval/reward"), curve: one, low, high },
});

describe("a chart as a table", () => {
  it("has a row for each value where they are few, with its interval", () => {
    const [x, values] = [
      [0, 50, 100],
      [0.25, null, 0.75],
    ];
    const table = tableOf(
      drawn(curveAt(x, values), curveAt([0, 100], [0.2, 0.7]), curveAt([0, 100], [0.3, 0.8])),
      null,
    );
    expect(table).toMatchObject({ n: 3, areBuckets: false, hasInterval: true });
    expect(
      table.rows.map(({ from, last, low, high, nNan }) => [from, last, low, high, nNan]),
    ).toEqual([
      [0, 0.25, 0.2, 0.3, 0],
      [50, null, null, null, 1],
      [100, 0.75, 0.7, 0.8, 0],
    ]);
  });
  it("never has more rows than it may, and each value is in exactly one", () => {
    for (const n of [1, 39, 40, 41, 80, 1999]) {
      const values = Array.from({ length: n }, (_, i) => (i === 7 ? -100 : Math.sin(i)));
      const { rows } = tableOf(drawn(curveOfSteps(values)), null);
      expect(rows.length).toBeLessThanOrEqual(MOST_ROWS);
      expect(rows.reduce((sum, row) => sum + row.n, 0)).toBe(n);
      expect(Math.min(...rows.map(({ min }) => min ?? Infinity))).toBe(Math.min(...values));
      const total = rows.reduce((sum, { mean, n }) => sum + (mean ?? 0) * n, 0);
      expect(total).toBeCloseTo(values.reduce((sum, one) => sum + one, 0));
      expect(rows.slice(1).every(({ from }, i) => from === (rows[i]?.to ?? NaN) + 1)).toBe(true);
    }
  });
  it("weighs the mean of each bucket by its values", () => {
    const values = Array.from({ length: 41 }, () => 1);
    const buckets = {
      ...curveOfSteps([0, 3, ...values.slice(2)]),
      n: [512, 101, ...values.slice(2)],
      nNan: [212, 1, ...values.slice(2).map(() => 0)],
    };
    // (300 x 0 + 100 x 3) / 400
    expect(tableOf(drawn(buckets), null).rows[0]).toMatchObject({ n: 2, nValues: 400, mean: 0.75 });
  });
  it("is of what the reader has zoomed to", () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    const zoomed = tableOf(drawn(curveAt(values, values)), [9.5, 12]);
    expect(zoomed.rows.map(({ from }) => from)).toEqual([10, 11, 12]);
    expect(tableOf(drawn(curveAt(values, values)), [200, 300]).rows).toEqual([]);
  });
});
