import { describe, expect, it } from "vitest";

import {
  WHOLE_DISTANCES,
  decimalsOf,
  labelsOf,
  niceTicks,
  roomFor,
  shortWhole,
  unitOfSpan,
  whole,
} from "./ticks";

describe("ticks of steps and tokens", () => {
  it("are whole numbers at distances that people count in", () => {
    expect(WHOLE_DISTANCES.slice(0, 7)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(WHOLE_DISTANCES.every((one) => Number.isInteger(one))).toBe(true);
  });
  it("stand in full where there is room for three of them, else short", () => {
    expect(whole(1_000_000)).toBe("1,000,000");
    expect(roomFor(1_000_000, 330).isFull).toBe(true);
    expect(roomFor(1_000_000, 200).isFull).toBe(false);
    expect(roomFor(5, 200).isFull).toBe(true);
    expect(roomFor(12_000_000_000, 330).isFull).toBe(false);
  });
  it("never lose a digit that tells one from the next when they are short", () => {
    expect([0, 500_000, 1_000_000].map((one) => shortWhole(one, 500_000))).toEqual([
      "0",
      "500k",
      "1.0M",
    ]);
    expect([1_000_000, 2_000_000].map((one) => shortWhole(one, 1_000_000))).toEqual(["1M", "2M"]);
    expect([1_000_100, 1_000_200].map((one) => shortWhole(one, 100))).toEqual([
      "1.0001M",
      "1.0002M",
    ]);
    expect(shortWhole(2_500_000_000, 500_000_000)).toBe("2.5B");
    expect(shortWhole(7, 1)).toBe("7");
  });
});

describe("other ticks", () => {
  it("have as many decimals as tell one from the next", () => {
    expect([10, 1, 0.5, 0.25, 0.001].map(decimalsOf)).toEqual([0, 0, 1, 2, 3]);
  });
  it("of seconds are whole in their unit", () => {
    expect([0.1, 30, 60, 300, 7200, 86_400].map((span) => unitOfSpan(span)[1])).toEqual([
      "s",
      "s",
      "min",
      "min",
      "h",
      "d",
    ]);
  });
});

it("writes the numbers of one axis with the same decimals", () => {
  expect(labelsOf(niceTicks(-0.6, 1.1))).toEqual(["−0.5", "0.0", "0.5", "1.0"]);
  expect(labelsOf(niceTicks(0, 20))).toEqual(["0", "5", "10", "15", "20"]);
  expect(labelsOf([0.25])).toEqual(["0.250"]);
});
