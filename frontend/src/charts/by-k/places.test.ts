import { expect, test } from "vitest";

import type { Span } from "@/lib/format";

import { asideOf, ksOf, labelledOf, placeOf, rangeOf } from "./places";

const line = (ks: readonly number[], interval: Span | null = null) => ({
  name: "a",
  colour: "--s1",
  points: ks.map((k) => ({ k, value: 0.5, interval })),
});

test("twice as many responses are the same distance everywhere", () => {
  const place = placeOf([1, 2, 16], 400);
  expect([1, 2, 4, 16].map(place)).toEqual([0, 100, 200, 400]);
  expect(placeOf([2, 3], 100)(2)).toBe(0);
});

test("k of any line are there once, in their order", () => {
  expect(ksOf([line([1, 16, 4]), line([2, 16])])).toEqual([1, 2, 4, 16]);
});

test("the scale has 0 and reaches to the ends of all intervals", () => {
  expect(rangeOf([line([1]), line([2], { low: 0.4, high: 0.7 })])).toEqual([0, 0.7]);
  expect(rangeOf([line([1], { low: -0.25, high: 0.75 })])).toEqual([-0.25, 0.75]);
  expect(rangeOf([])).toEqual([0, 1]);
});

test("lines stand beside each other, around their k", () => {
  expect([asideOf(0, 3), asideOf(1, 3), asideOf(2, 3), asideOf(0, 1)]).toEqual([-5, 0, 5, 0]);
});

test("of k that are too near to each other the greater is written", () => {
  expect(labelledOf([1, 2, 4, 64, 65], 300)).toEqual([1, 2, 4, 65]);
});
