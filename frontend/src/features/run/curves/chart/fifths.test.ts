import { expect, test } from "vitest";

import type { Curve } from "@/charts/live-curves";

import { fifthsOf } from "./fifths";

const curve = (values: readonly (number | null)[], counts?: readonly number[]): Curve => {
  const [x, column] = [values.map((_, step) => step), [...values]];
  return {
    ...{ x, min: column, max: column, mean: column, last: column, part: null },
    n: counts === undefined ? x.map(() => 1) : [...counts],
    nNan: values.map((value) => (value === null ? 1 : 0)),
    ends: { n: x.length, first: column[0] ?? null, newest: column.at(-1) ?? null },
  };
};

test("of what is noisy it is the mean of a fifth of the values at each end", () => {
  const values = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 1 : 3) + (i < 10 ? 0 : 10));
  expect(fifthsOf(curve(values))).toEqual({ first: 2, last: 12 });
});

test("a bucket counts as its values, and one without a value not at all", () => {
  const values = [...Array.from({ length: 18 }, (_, i) => (i % 2) * 4), 9, 1, null];
  const counts = [...values.slice(0, 18).map(() => 1), 3, 1, 5];
  const one = curve(values, counts);
  const apart = { ...one, min: one.min.map(() => 0), max: one.max.map(() => 9) };
  // Of 22 values a fifth is 4.4: 1 of the last bucket, 3 of the one before, and one of 4 more.
  expect(fifthsOf(apart)?.last).toBeCloseTo((1 + 3 * 9 + 4) / 5);
});

test("of buckets single values are noise if they lie far apart within one", () => {
  const means = Array.from({ length: 50 }, (_, i) => 5 - i / 50);
  const buckets = (half: number): Curve => ({
    ...curve(
      means,
      means.map(() => 32),
    ),
    min: means.map((one) => one - half),
    max: means.map((one) => one + half),
  });
  expect(fifthsOf(buckets(0.2))?.first).toBeCloseTo(5 - 4.5 / 50);
  expect(fifthsOf(buckets(0.01))).toBeNull();
});

test("of what is steady, and of few values, there is none", () => {
  expect(fifthsOf(curve(Array.from({ length: 50 }, (_, i) => 1 - i / 50)))).toBeNull();
  expect(fifthsOf(curve(Array.from({ length: 50 }, () => 3)))).toBeNull();
  expect(fifthsOf(curve(Array.from({ length: 15 }, (_, i) => i % 2)))).toBeNull();
});
