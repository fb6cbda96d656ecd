import { expect, test } from "vitest";

import type { Curve } from "@/charts/live-curves";
import { curveOfSteps } from "@testing/curves";

import { fifthsOf } from "./fifths";

test("of what is noisy it is the mean of a fifth of the values at each end", () => {
  const values = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 1 : 3) + (i < 10 ? 0 : 10));
  expect(fifthsOf(curveOfSteps(values))).toEqual({ first: 2, last: 12 });
});

test("a bucket counts as its values, and one without a value not at all", () => {
  const values = [...Array.from({ length: 18 }, (_, i) => (i % 2) * 4), 9, 1, null];
  const counts = [...values.slice(0, 18).map(() => 1), 3, 1, 5];
  const one = curveOfSteps(values, { n: counts });
  const apart = { ...one, min: one.min.map(() => 0), max: one.max.map(() => 9) };
  // Of 22 values a fifth is 4.4: 1 of the last bucket, 3 of the one before, and one of 4 more.
  expect(fifthsOf(apart)?.last).toBeCloseTo((1 + 3 * 9 + 4) / 5);
});

test("of buckets single values are noise if they lie far apart within one", () => {
  const means = Array.from({ length: 50 }, (_, i) => 5 - i / 50);
  const buckets = (half: number): Curve => ({
    ...curveOfSteps(means, { n: means.map(() => 32) }),
    min: means.map((one) => one - half),
    max: means.map((one) => one + half),
  });
  expect(fifthsOf(buckets(0.2))?.first).toBeCloseTo(5 - 4.5 / 50);
  expect(fifthsOf(buckets(0.01))).toBeNull();
});

test("of what is steady, and of few values, there is none", () => {
  expect(fifthsOf(curveOfSteps(Array.from({ length: 50 }, (_, i) => 1 - i / 50)))).toBeNull();
  expect(fifthsOf(curveOfSteps(Array.from({ length: 50 }, () => 3)))).toBeNull();
  expect(fifthsOf(curveOfSteps(Array.from({ length: 15 }, (_, i) => i % 2)))).toBeNull();
});
