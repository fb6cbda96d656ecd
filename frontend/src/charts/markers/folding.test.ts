import { describe, expect, it } from "vitest";

import {
  byPlace,
  countText,
  folded,
  lined,
  placeOf,
  told,
  type Frame,
  type Marker,
  type MarkerKind,
} from "./folding";

const marker = (x: number, kind: MarkerKind = "checkpoint"): Marker => ({
  ...{ x, kind, text: `${kind} of ${x}` },
});
const FRAME: Frame = { left: 50, width: 1000, min: 0, max: 100 };

describe("markers", () => {
  it("are places of their own where there is room, and a number where there is none", () => {
    const places = folded(
      [0, 1, 2.3, 2.4, 50].map((x) => marker(x)),
      FRAME,
    );
    expect(places.map(({ from, to, markers }) => [from, to, markers.length])).toEqual([
      [0, 2.3, 3],
      [2.4, 2.4, 1],
      [50, 50, 1],
    ]);
    expect(places.map(({ px }) => px)).toEqual([61.5, 74, 550]);
  });
  it("are never lost, however many there are: each inside the frame is in one place", () => {
    const all = Array.from({ length: 5000 }, (_, n) => marker(n / 25 - 50));
    const inside = all.filter(({ x }) => x >= 0 && x <= 100);
    const places = folded(all, FRAME);
    expect(places.flatMap(({ markers }) => markers)).toEqual(inside);
    expect(places.length).toBeLessThanOrEqual(42);
    const gaps = places.slice(1).map(({ from }, i) => from - (places[i]?.from ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2.4 - 1e-9);
  });
  it("show the kind that tells most, and tell of it first", () => {
    const sorted = byPlace([marker(40, "evaluation"), marker(40), marker(40, "alert")]);
    const [place] = folded(sorted, FRAME);
    expect(place?.kind).toBe("alert");
    if (place === undefined) return;
    expect(told(place, (x) => `step ${x}`)).toEqual({
      lines: ["step 40: alert of 40", "step 40: checkpoint of 40", "step 40: evaluation of 40"],
      rest: 0,
    });
    const many = { ...place, markers: Array.from({ length: 20 }, () => marker(1)) };
    expect(told(many, String)).toMatchObject({ rest: 14 });
  });
  it("are counted: of one kind all, of several those that the sign does not say", () => {
    const count = (...kinds: MarkerKind[]) =>
      folded(byPlace(kinds.map((kind) => marker(40, kind))), FRAME).map(countText);
    expect(count("alert")).toEqual([""]);
    expect(count("checkpoint", "checkpoint")).toEqual(["2"]);
    expect(count("note", "checkpoint", "evaluation")).toEqual(["+2"]);
    expect(count(...Array.from({ length: 120 }, () => "evaluation" as const))).toEqual(["99+"]);
  });
  it("have a line through the plot where they are rare, or pointed at", () => {
    const all = [marker(10), marker(10, "resume"), marker(50), marker(90, "alert")];
    const places = folded(byPlace(all), FRAME);
    expect(lined(places, null).map(({ x, kind }) => [x, kind])).toEqual([
      [10, "resume"],
      [90, "alert"],
    ]);
    expect(lined(places, places[1] ?? null)).toContainEqual(marker(50));
  });
  it("are found by where they lie, however they fold", () => {
    const all = [0, 10, 20].map((x) => marker(x));
    expect(placeOf(folded(all, FRAME), 20)).toBe(2);
    expect(placeOf(folded(all, { ...FRAME, max: 1000 }), 10)).toBe(0);
    expect(placeOf(folded([marker(5), ...all.slice(1)], FRAME), 20)).toBe(2);
    expect(placeOf(folded(all, FRAME), -Infinity)).toBe(0);
    expect(placeOf([], 3)).toBe(0);
  });
  it("stand still in a frame that has no width", () => {
    expect(folded([marker(5)], { left: 0, width: 100, min: 5, max: 5 })).toHaveLength(1);
  });
});
