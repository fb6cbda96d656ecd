import { expect, test } from "vitest";

import { endsOf, halvesOf, zoomOf, zoomParam } from "./window";

test("halves meet in the middle, and of a single place there are none", () => {
  expect(halvesOf([1, 120])).toEqual([
    [1, 60.5],
    [60.5, 120],
  ]);
  expect(halvesOf([7, 7])).toBeNull();
  expect(halvesOf(null)).toBeNull();
});

test("a part that can no longer be told from its halves in the address is not halved", () => {
  const narrow = [1700000000, 1700000000.00001] as const;
  const halves = halvesOf(narrow);
  expect(halves === null || halves.every((half) => zoomOf(zoomParam(half)) !== null)).toBe(true);
});

test("a curve begins and ends with its places, and an empty one nowhere", () => {
  expect(endsOf([3, 4, 9])).toEqual([3, 9]);
  expect(endsOf([])).toBeNull();
});
