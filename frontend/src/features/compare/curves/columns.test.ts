import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/types";
import type { Curve } from "@/charts/live-curves";

import { drawn } from "./columns";
import { legendOf, readingAt, shownAs } from "./reading";
import { firstNames } from "../view";

const curve = (x: number[], mean: number[]): Curve => ({
  x,
  mean,
  min: mean,
  max: mean,
  last: mean,
  n: mean.map(() => 1),
  nNan: mean.map(() => 0),
  ends: { n: mean.length, first: mean[0] ?? null, newest: mean.at(-1) ?? null },
  part: null,
});
const group = (place: number, x: number[], value: number[], n = 3): GroupCurve => ({
  group: place,
  name: "eval/reward",
  is_iqm: false,
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
  it("draws no mean and no band of fewer than three seeds, but a full line for each run", () => {
    const run = { run: "a", group: 0, curve: curve([0], [5]) };
    const two = { ...group(0, [0], [1], 2), value: [null] };

    expect(drawn([two], [run], colour)).toEqual({
      data: [[0], [5]],
      lines: [{ label: "a", colour: "--s1", width: 2 }],
      bands: [],
    });
    expect(drawn([group(0, [0], [1])], [run], colour).lines[0]).toMatchObject({ width: 1 });
  });
  it("draws the mean apart and dashed where some seeds have ended, and ends it below three", () => {
    const seeds = [4, 4, 3, 2];
    const ended: GroupCurve = { ...group(0, [0, 1, 2, 3], [5, 6, 9, 9]), n: seeds };
    const { data, lines } = drawn([{ ...ended, value: [5, 6, 9, null] }], [], colour);

    expect(lines.slice(0, 2).map((line) => line.isDashed ?? false)).toEqual([false, true]);
    expect(data.slice(1, 3)).toEqual([
      [5, 6, null, null],
      [null, null, 9, null],
    ]);
  });
  it("never changes a group when a run is hidden", () => {
    const run = { run: "a", group: 0, curve: curve([0], [5]) };
    const shown = drawn([group(0, [0], [1])], [run], colour);
    const hidden = drawn([group(0, [0], [1])], [], colour);
    expect(shown.data.slice(2)).toEqual(hidden.data.slice(1));
  });
});

describe("what is said at the cursor", () => {
  it("is how many seeds a mean is of, and how many there were", () => {
    const two: GroupCurve = { ...group(0, [0, 10], [1, 2]), n: [3, 2], value: [1, null] };
    const iqm: GroupCurve = { ...group(1, [0, 10], [5, 5], 12), is_iqm: true };

    expect(readingAt([two, iqm], "step", 0)).toEqual([
      "A: 1 [0.00, 2.00], mean of 3 seeds",
      "B: 5 [4.00, 6.00], IQM of 12 seeds",
    ]);
    expect(readingAt([two], "step", 10)).toEqual(["A: 2 seeds (of 3), no mean"]);
    const between = group(1, [5, 10], [7, 8]);
    expect(readingAt([two, between], "step", 5)).toEqual(["B: 7 [6.00, 8.00], mean of 3 seeds"]);
    // A bucket that ends later holds the cursor's step.
    expect(readingAt([two], "step", 5)).toEqual([
      "A: 2 seeds (of 3), no mean in the bucket that ends at step 10",
    ]);
    expect(readingAt([two], "relative", 5)).toEqual([
      "A: 2 seeds (of 3), no mean in the bucket that ends after 10 s",
    ]);
    expect(legendOf([two, iqm], "step")).toMatch(/^Thick: the mean or IQM of the seeds/);
    expect(legendOf([group(0, [0], [1], 2)], "tokens")).toMatch(
      /^A group of fewer than three seeds/,
    );
  });
});

describe("the line of a saved picture", () => {
  const [mean, iqm, small] = [
    group(0, [0, 10], [1, 2]),
    { ...group(1, [0, 10], [5, 5], 12), n: [12, 11], is_iqm: true },
    { ...group(2, [0], [1], 2), value: [null] },
  ];
  it("names what is drawn, and nothing else", () => {
    expect(shownAs([mean], [], "step")).toBe("Thick: mean; band: 95 % interval");
    expect(shownAs([mean], [{ group: 0 }], "tokens")).toBe(
      "Thick: mean; band: 95 % interval; thin: runs; interpolated",
    );
    expect(shownAs([small], [{ group: 2 }], "step")).toBe("A line for each run");
  });
  it("fits into the width of a picture", () => {
    const whole = shownAs([mean, iqm, small], [{ group: 0 }, { group: 2 }], "relative");
    expect(whole).toBe(
      "Thick: mean or IQM, or run of a small group; band: 95 % interval; thin: runs; rings: fewer seeds; interpolated",
    );
    expect(whole.length).toBeLessThanOrEqual(110);
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
