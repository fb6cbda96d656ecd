import { describe, expect, it } from "vitest";

import { barPlaces, rangeOfBars } from "./places";

const bar = (value: number, low: number | null = null, high: number | null = null) => ({
  value,
  low,
  high,
});

describe("bars", () => {
  it("have a scale from 0 to the greatest end of an interval", () => {
    const series = [{ name: "a", colour: "--s1", bars: [bar(0.5, 0.4, 0.7), null, bar(0.6)] }];
    expect(rangeOfBars(series)).toEqual([0, 0.7]);
    expect(rangeOfBars([{ name: "a", colour: "--s1", bars: [bar(-1)] }])).toEqual([-1, 0]);
    expect(rangeOfBars([{ name: "a", colour: "--s1", bars: [null, bar(0)] }])).toEqual([0, 1]);
  });
  it("of a level stand around its middle", () => {
    const places = barPlaces(2, 2, 100);
    expect(places.width).toBe(18);
    expect([places.left(0, 0), places.left(0, 1), places.left(1, 0)]).toEqual([6, 26, 56]);
    expect(places.middle(1)).toBe(75);
  });
});
