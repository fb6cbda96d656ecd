import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/types";
import type { Curve } from "@/charts/live-curves";

import { drawn } from "./columns";
import { firstNames } from "./view";

const curve = (x: number[], mean: number[]): Curve => ({
  x,
  mean,
  min: mean,
  max: mean,
  last: mean,
  nNan: mean.map(() => 0),
});
const group = (place: number, x: number[], value: number[], n = 3): GroupCurve => ({
  group: place,
  name: "eval/reward",
  x,
  n: x.map(() => n),
  value,
  low: value.map((one) => (n < 3 ? null : one - 1)),
  high: value.map((one) => (n < 3 ? null : one + 1)),
});
const colour = (place: number) => `--s${place + 1}`;

describe("the table of a chart with several groups", () => {
  it("has every x once, and leaves out what a curve does not have there", () => {
    const { data } = drawn(
      [group(0, [0, 20], [1, 2])],
      [{ run: "a", group: 0, curve: curve([10], [5]) }],
      colour,
    );
    expect(data[0]).toEqual([0, 10, 20]);
    expect(data[1]).toEqual([undefined, 5, undefined]);
    expect(data[2]).toEqual([1, undefined, 2]);
  });
  it("encloses a band by the places of its ends, upper first", () => {
    const { data, bands, lines } = drawn([group(0, [0], [1]), group(1, [0], [5])], [], colour);
    expect(bands).toEqual([
      [2, 3],
      [5, 6],
    ]);
    expect([data[2], data[3], data[5], data[6]]).toEqual([[2], [0], [6], [4]]);
    expect(lines.map((line) => line.colour)).toEqual([
      "--s1",
      "--s1",
      "--s1",
      "--s2",
      "--s2",
      "--s2",
    ]);
  });
  it("draws no band of fewer than three seeds", () => {
    expect(drawn([group(0, [0], [1], 2)], [], colour).bands).toEqual([]);
  });
  it("never changes a group when a run is hidden", () => {
    const run = { run: "a", group: 0, curve: curve([0], [5]) };
    const shown = drawn([group(0, [0], [1])], [run], colour);
    const hidden = drawn([group(0, [0], [1])], [], colour);
    expect(shown.data.slice(2)).toEqual(hidden.data.slice(1));
  });
});

describe("what is drawn first", () => {
  it("is what decides, then what it costs", () => {
    const known = ["kl/exact", "length/mean", "loss", "lr", "eval/reward", "gold/reward"];
    expect(firstNames(known, "gold/reward")).toEqual([
      "gold/reward",
      "eval/reward",
      "kl/exact",
      "length/mean",
    ]);
  });
  it("is something, whatever the runs have", () => {
    expect(firstNames(["a", "b"], null)).toEqual(["a", "b"]);
  });
});
