import { describe, expect, it } from "vitest";

import { groupCurveOf, type GroupCurve } from "@/api/seed-groups";
import type { Series } from "@/api/types";

import { groupCurve, isComplete, runCurve } from "./closer";

const group = (x: number[]): GroupCurve => ({
  ...{ group: 0, name: "loss", is_iqm: false, x, n: x.map(() => 3), n_nan: x },
  ...{ value: x, low: x.map((one) => one - 1), high: x.map((one) => one + 1) },
});

const series = (x: number[], n = x.length): Series => ({
  ...{ run: "a", name: "loss", n, x, origin: 0, first: x[0] ?? null, newest: x.at(-1) ?? null },
  ...{ n_points: x.map(() => 1), n_nan: x.map(() => 0) },
  y: { low: 0, unit: 1, min: x, max: x, mean: x, last: x },
});

it("reads a curve of a group as it is sent: each column in parts of its range", () => {
  const y = {
    value: { low: 1, unit: 0.5, numbers: [0, 2, null] },
    lower: { low: 0, unit: 1, numbers: [1, 1.5, null] },
    upper: { low: 1, unit: 2, numbers: [0, 1, null] },
  };
  const sent = {
    group: 1,
    name: "loss",
    is_iqm: true,
    x: [1, 2, 3],
    n: [3, 3, 2],
    n_nan: [0, 0, 1],
  };
  const { value, low, high, ...rest } = groupCurveOf({ ...sent, y });
  expect(rest).toEqual(sent);
  expect([value, low, high]).toEqual([
    [1, 2, null],
    [1, 1.5, null],
    [1, 3, null],
  ]);
});

it("reads an end as the value where it is none of its own, and never beyond it", () => {
  const y = {
    value: { low: 1, unit: 0.5, numbers: [0, 2] },
    lower: { low: 1.5, unit: 1, numbers: [null, 1] },
    upper: { low: 1.5, unit: 2, numbers: [null, 0] },
  };
  const sent = { group: 1, name: "loss", is_iqm: true, x: [1, 2], n: [3, 3], n_nan: [0, 0] };
  const { value, low, high } = groupCurveOf({ ...sent, y });
  expect([value, low, high]).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
});

describe("a closer look at compared curves", () => {
  it("is asked for where a curve leaves points out", () => {
    expect(isComplete([series([1, 2]), series([5])])).toBe(true);
    expect(isComplete([series([1, 2]), series([8, 16], 16)])).toBe(false);
  });
  it("takes the place of the whole where it is, and nowhere else", () => {
    const close = groupCurve(group([0, 100, 200, 300]), group([90, 95, 100, 105]));
    expect(close.x).toEqual([0, 90, 95, 100, 105, 200, 300]);
    expect(close.value).toEqual(close.x);
    expect(close.low).toEqual(close.x.map((x) => x - 1));
    expect(close.n).toEqual(close.x.map(() => 3));
    expect(close.n_nan).toEqual(close.x);
  });
  it("is the whole where there is none", () => {
    const whole = group([0, 1]);
    expect(groupCurve(whole, undefined)).toBe(whole);
    expect(groupCurve(whole, group([]))).toBe(whole);
    expect(runCurve(series([0, 1]), undefined).x).toEqual([0, 1]);
    expect(runCurve(series([0, 1]), series([])).x).toEqual([0, 1]);
  });
  it("is alike for a run", () => {
    expect(runCurve(series([0, 100, 200]), series([90, 95])).x).toEqual([0, 90, 95, 100, 200]);
  });
});
