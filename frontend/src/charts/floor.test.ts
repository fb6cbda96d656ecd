import { describe, expect, it } from "vitest";

import { noiseSpan, widened } from "./floor";

const spanning = (span: number) => ({ includes: null, span });

describe("what an axis shows at least", () => {
  it("is what the values span where that is enough", () => {
    expect(widened(0.2, 1.4, null)).toEqual([0.2, 1.4]);
    expect(widened(0.2, 1.4, spanning(1))).toEqual([0.2, 1.4]);
  });

  it("is as much more on both sides where it is not", () => {
    expect(widened(-0.25, 0.25, spanning(2))).toEqual([-1, 1]);
    expect(widened(10, 11, spanning(3))).toEqual([9, 12]);
  });

  it("goes below zero for no value that is not", () => {
    expect(widened(0.25, 0.75, spanning(2))).toEqual([0, 2]);
    expect(widened(0, 0, spanning(2))).toEqual([0, 2]);
  });

  it("goes above zero for no value that is never positive", () => {
    expect(widened(-0.75, -0.25, spanning(2))).toEqual([-2, 0]);
  });

  it("ends where no value can lie, with the room on the other side", () => {
    expect(widened(0.5, 0.75, { ...spanning(0.75), most: 1 })).toEqual([0.25, 1]);
    expect(widened(0.5, 0.75, { ...spanning(4), most: 1 })).toEqual([0, 1]);
    expect(widened(0.5, 1.5, { ...spanning(2), most: 1 })).toEqual([0, 2]);
  });

  it("has what is always in sight, and values beyond it", () => {
    const floor = { includes: { low: 0, high: 1 }, span: 0 };
    expect(widened(0.001, 0.002, floor)).toEqual([0, 1]);
    expect(widened(-0.5, 40, floor)).toEqual([-0.5, 40]);
  });
});

describe("how much noise spans", () => {
  it("is twice as much as its values do", () => {
    const wave = Array.from({ length: 200 }, (_, i) => Math.sin(12.9898 * i * i));
    expect(noiseSpan(wave)).toBeGreaterThan(4);
  });

  it("is less than a course does, however few values show it, and than a jump", () => {
    expect(noiseSpan(Array.from({ length: 9 }, (_, i) => i / 8))).toBeLessThan(0.1);
    expect(noiseSpan([0, 0.8, 0.9, 0.91, 0.93, 0.92, 0.94, 0.95, 0.95])).toBeLessThan(0.4);
  });

  it("is of few values as large a part of the greatest as asked", () => {
    expect(noiseSpan([1, -8, 1], 0.5)).toBe(4);
    expect(
      noiseSpan(
        Array.from({ length: 8 }, (_, i) => i),
        0.5,
      ),
    ).toBeLessThan(1);
  });

  it("is nothing of few values, and of one that stays", () => {
    expect(noiseSpan([1, 2, 1])).toBe(0);
    expect(noiseSpan([3, 3, 3], 0.5)).toBe(0);
    expect(noiseSpan(Array.from({ length: 20 }, () => 3))).toBe(0);
  });
});
