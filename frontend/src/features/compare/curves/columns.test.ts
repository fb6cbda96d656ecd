import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/seed-groups";
import type { Metric } from "@/api/types";
import type { Axis, Curve } from "@/charts/live-curves";
import { explainer } from "@/components/metrics/explained";
import { bucketsAt, curveAt } from "@testing/curves";

import { drawn, type RunCurve } from "./columns";
import { legendOf, nNanIn, nNotPositiveIn, readingAt, shownAs } from "./reading";
import { firstNames } from "../view";

const metric: Metric = {
  ...{ name: "eval/reward", title: "Held-out reward", what: "", healthy: "", unit: "" },
  ...{ group: "Evaluation", is_key: true, is_evaluation: true, has_interval: true },
  is_training: false,
};
const explain = explainer([metric, { ...metric, name: "loss", is_evaluation: false }]);

const ofRun = (run: string, place: number, of: Curve, more: Partial<RunCurve> = {}): RunCurve => ({
  ...{ run, group: place, explained: explain("loss"), curve: of, low: null, high: null },
  ...more,
});
const group = (place: number, x: number[], value: number[], n = 3): GroupCurve => ({
  group: place,
  name: "eval/reward",
  is_iqm: false,
  x,
  n: x.map(() => n),
  n_nan: x.map(() => 0),
  value,
  low: value.map((one) => (n < 3 ? null : one - 1)),
  high: value.map((one) => (n < 3 ? null : one + 1)),
});
const colour = (place: number) => `--s${place + 1}`;
const together = (groups: readonly GroupCurve[], runs: readonly RunCurve[]) =>
  drawn(groups, runs, colour, "step");

describe("the table of a chart with several groups", () => {
  it("has every x once, and leaves out what a curve does not have there", () => {
    const { data } = together([group(0, [0, 20], [1, 2])], [ofRun("a", 0, curveAt([10], [5]))]);
    expect(data[0]).toEqual([0, 10, 20]);
    expect(data[1]).toEqual([undefined, 5, undefined]);
    expect(data[2]).toEqual([1, undefined, 2]);
  });
  it("encloses a band by the places of its ends, upper first", () => {
    const { data, bands, lines } = together([group(0, [0], [1]), group(1, [0], [5])], []);
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
    const run = ofRun("a", 0, curveAt([0], [5]));
    const two = { ...group(0, [0], [1], 2), value: [null] };
    const { data, lines, bands } = together([two], [run]);

    expect([data[0], data[1], bands]).toEqual([[0], [5], []]);
    expect(lines[0]).toMatchObject({ label: "a", colour: "--s1", width: 1.5, alpha: 1 });
    expect(together([group(0, [0], [1])], [run]).lines[0]).toMatchObject({ width: 1 });
  });
  it("draws the mean apart and dashed where some seeds have ended, and ends it below three", () => {
    const seeds = [4, 4, 3, 2];
    const ended: GroupCurve = { ...group(0, [0, 1, 2, 3], [5, 6, 9, 9]), n: seeds };
    const { data, lines } = together([{ ...ended, value: [5, 6, 9, null] }], []);

    expect(lines.slice(0, 2).map((line) => line.isDashed ?? false)).toEqual([false, true]);
    expect(data.slice(1, 3)).toEqual([
      [5, 6, null, null],
      [null, null, 9, null],
    ]);
  });
  it("never changes a group when a run is hidden", () => {
    const run = ofRun("a", 0, curveAt([0], [5]));
    const shown = together([group(0, [0], [1])], [run]);
    const hidden = together([group(0, [0], [1])], []);
    expect(shown.data.slice(-3)).toEqual(hidden.data.slice(1));
  });
});

describe("a run is drawn as on its own page", () => {
  const spiked = bucketsAt([4, 8, 12], [1, 3, 1], 2, 4);
  const evaluated = { explained: explain("eval/reward") };
  const interval = { low: curveAt([4, 8, 12], [0, 2, 0]), high: curveAt([4, 8, 12], [2, 4, 2]) };

  it("with the extremes of its buckets, which no mean hides, also beside a mean", () => {
    for (const groups of [[], [group(0, [0], [1])]]) {
      const { data, lines, bands } = together(groups, [ofRun("a", 0, spiked)]);
      const [high, low] = bands[0] ?? [0, 0];
      const at = [4, 8, 12].map((x) => data[0].indexOf(x));
      expect(at.map((place) => data[high]?.[place])).toEqual([3, 5, 3]);
      expect(at.map((place) => data[low]?.[place])).toEqual([-1, 1, -1]);
      // A band of less than a pixel would not be seen.
      expect(lines[high - 1]?.width).toBeGreaterThan(0);
    }
  });
  it("with markers and whiskers at evaluations, by the last value of a bucket", () => {
    const run = ofRun("a", 0, spiked, { ...evaluated, ...interval });
    const { data, lines, bands, whiskers } = together([], [run]);
    expect(data[1]).toEqual([2, 4, 2]);
    expect([lines[0]?.isMarked, bands]).toEqual([true, []]);
    const [high, low] = whiskers[0] ?? [0, 0];
    expect([data[high], data[low]]).toEqual([
      [2, 4, 2],
      [0, 2, 0],
    ]);
  });
  it("without its own interval beside that of its group; the mean has markers, too", () => {
    const mean = group(0, [4, 8, 12], [1, 2, 3]);
    const run = ofRun("a", 0, spiked, { ...evaluated, ...interval });
    const { lines, whiskers } = together([mean], [run]);
    expect(whiskers).toEqual([]);
    expect(lines.map(({ isMarked = false }) => isMarked)).toEqual([true, true, false, false]);
    // Between evaluations it is interpolated: there is nothing to mark.
    const byTokens = drawn([mean], [run], colour, "tokens").lines;
    expect(byTokens.map(({ isMarked = false }) => isMarked)).toEqual([true, false, false, false]);
  });
  it("with a mark where a value is not finite, of a mean as of a run without one", () => {
    const broken = curveAt([1, 2, 3], [1, null, 1]);
    expect(together([], [ofRun("a", 0, broken)]).marks).toEqual([2]);
    const mean = { ...group(0, [1, 2, 3], [1, 1, 1]), n_nan: [0, 0, 4] };
    const runs = [ofRun("a", 0, broken), ofRun("b", 1, broken)];
    expect(together([mean], runs).marks).toEqual([2, 3]);
    expect(nNanIn([mean], runs)).toBe(5);
  });
});

describe("smoothing and the logarithmic scale", () => {
  const smoothed = { smoothing: 0.5, isLog: false };
  it("draw the course of a run over what was measured, but not of one beside a mean", () => {
    const run = ofRun("a", 0, curveAt([0, 1, 2], [0, 3, 0]));
    const { data, lines } = drawn([], [run], colour, "step", smoothed);
    expect(lines.map(({ label }) => label)).toEqual(["a", "smoothed"]);
    expect([data[1], data[2]]).toEqual([
      [0, 3, 0],
      [0, 2, expect.closeTo(0.857, 3)],
    ]);
    expect(lines[0]?.alpha).toBeLessThan(lines[1]?.alpha ?? 1);
    const thin = drawn([group(0, [0, 1, 2], [1, 1, 1])], [run], colour, "step", smoothed);
    expect(thin.lines.map(({ label }) => label)).not.toContain("smoothed");
  });
  it("draw the course of a mean over the mean, within the interval as measured", () => {
    const part = { ...group(0, [0, 1, 2], [0, 3, 0]), n: [3, 3, 2] };
    const { data, lines, bands } = drawn([part], [], colour, "step", smoothed);
    expect(data.slice(1, 5)).toEqual([
      [0, 3, null],
      [null, null, 0],
      [0, 2, null],
      [null, null, expect.closeTo(0.857, 3)],
    ]);
    expect(lines.slice(2, 4).map(({ isDashed = false }) => isDashed)).toEqual([false, true]);
    const [high, low] = bands[0] ?? [0, 0];
    expect([data[high], data[low]]).toEqual([
      [1, 4, 1],
      [-1, 2, -1],
    ]);
  });
  it("leave out what is 0 or less on the logarithmic scale, and count it", () => {
    const run = ofRun("b", 1, curveAt([0, 1], [0, 3]));
    const mean = group(0, [0, 1, 2], [0, 3, 1]);
    const { data, bands } = drawn([mean], [run], colour, "step", { smoothing: 0, isLog: true });
    expect(data[1]?.slice(0, 2)).toEqual([null, 3]);
    expect(data[2]).toEqual([null, 3, 1]);
    const [, low = 0] = bands[0] ?? [];
    expect(data[low]).toEqual([null, 2, null]);
    expect(nNotPositiveIn([mean], [run])).toBe(3);
  });
});

describe("what is said at the cursor", () => {
  it("is how many seeds a mean is of, and how many there were", () => {
    const two: GroupCurve = { ...group(0, [0, 10], [1, 2]), n: [3, 2], value: [1, null] };
    const iqm: GroupCurve = { ...group(1, [0, 10], [5, 5], 12), is_iqm: true };

    const at = (groups: readonly GroupCurve[], axis: Axis, x: number) =>
      readingAt(groups, [], String, axis, x);

    expect(at([two, iqm], "step", 0)).toEqual([
      "A: 1 [0.00, 2.00], mean of 3 seeds",
      "B: 5 [4.00, 6.00], IQM of 12 seeds",
    ]);
    expect(at([two], "step", 10)).toEqual(["A: 2 seeds (of 3), no mean"]);
    const between = group(1, [5, 10], [7, 8]);
    expect(at([two, between], "step", 5)).toEqual(["B: 7 [6.00, 8.00], mean of 3 seeds"]);
    // A bucket that ends later holds the cursor's step.
    expect(at([two], "step", 5)).toEqual([
      "A: 2 seeds (of 3), no mean in the bucket that ends at step 10",
    ]);
    expect(at([two], "relative", 5)).toEqual([
      "A: 2 seeds (of 3), no mean in the bucket that ends after 10 s",
    ]);
    const broken = { ...group(0, [0], [1]), n: [2], n_nan: [3], value: [null] };
    expect(at([{ ...two, n_nan: [1, 0] }], "step", 0)).toEqual([
      "A: 1 [0.00, 2.00], mean of 3 seeds, 1 value NaN",
    ]);
    expect(at([{ ...broken, x: [0, 1], n: [2, 3] }], "step", 0)).toEqual([
      "A: 2 seeds (of 3), no mean, 3 values NaN",
    ]);
  });
  it("is the value of each run of a group that is too small for a mean", () => {
    const one = ofRun("a", 2, curveAt([0, 10, 20], [0.5, null, 0.75]), {
      explained: explain("eval/reward"),
      low: curveAt([0, 20], [0.25, 0.5]),
      high: curveAt([0, 20], [0.75, 1]),
    });
    const two = [ofRun("b", 0, bucketsAt([0, 8], [3, 4], 1, 4)), ofRun("c", 0, curveAt([8], [5]))];
    const at = (x: number, axis: Axis = "step") =>
      readingAt([group(1, [0, 20], [1, 2])], [...two, one], (run) => `run ${run}`, axis, x);

    expect(at(20)).toEqual([
      "A: 4 (run b, mean of 4 values up to step 8), 5 (run c, step 8)",
      "B: 2 [1.00, 3.00], mean of 3 seeds",
      "C: 0.750 [0.50, 1.00]",
    ]);
    // What was measured last, or the bucket that holds the place; before the first point nothing.
    expect(at(5).filter((said) => !said.startsWith("B"))).toEqual([
      "A: 4 (run b, mean of 4 values up to step 8)",
      "C: 0.500 [0.250, 0.750] (step 0)",
    ]);
    expect(at(10).at(-1)).toBe("C: NaN");
    expect(at(15, "tokens").at(-1)).toBe("C: NaN (10 tokens)");
  });
  it("is what is drawn how, while there is no cursor", () => {
    const mean = [group(0, [0], [1]), { ...group(1, [0], [1], 12), is_iqm: true }];
    const small = group(0, [0], [1], 2);
    const bucketed = ofRun("a", 0, bucketsAt([4], [1], 1, 4));
    expect(legendOf(mean, [], "step")).toMatch(/^Thick: the mean or IQM of the seeds/);
    expect(legendOf([small], [], "tokens")).toMatch(/^Fewer than three seeds have no mean/);
    expect(legendOf([small], [bucketed], "step")).toMatch(/Hairlines: the least and greatest/);
    const low = curveAt([4], [0]);
    expect(legendOf([small], [{ ...bucketed, low, high: low }], "step")).toMatch(/Bars: the 95 %/);
    expect(legendOf([], [ofRun("a", 0, curveAt([1], [null]))], "step")).toBe(
      "Red wedges: values that are not finite.",
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
