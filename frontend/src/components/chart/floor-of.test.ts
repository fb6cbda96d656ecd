import { describe, expect, it } from "vitest";

import type { Metric } from "@/api/types";
import { widened } from "@/charts/floor";
import { curveOfSteps } from "@testing/curves";

import type { Drawn } from "./columns";
import { floorOf } from "./floor-of";

const drawn = (
  values: readonly number[],
  metric: Partial<Metric> | null = {},
  more: Partial<Drawn> = {},
): Drawn => ({
  explained: {
    ...{ name: "m", title: "M", group: "Reward", order: 0 },
    isEvaluation: metric?.is_evaluation === true,
    metric: metric === null ? null : ({ name: "m", unit: "", ...metric } as Metric),
  },
  ...{ curve: curveOfSteps(values), low: null, high: null },
  ...more,
});

/** How much of the height of its axis a curve takes. */
const partOf = (one: Drawn): number => {
  const values = one.curve.last.filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [low, high] = widened(least, most, floorOf(one, null));
  return (most - least) / (high - low);
};

const around = (values: readonly number[], half: number) => ({
  low: curveOfSteps(values.map((value) => value - half)),
  high: curveOfSteps(values.map((value) => value + half)),
});

// As runs measured it: a gold reward that stalled, and one that rose.
const STALLED = [-0.2, -0.33, -0.22, -0.26, -0.18, -0.21, -0.25, -0.22, -0.27, -0.27, -0.21];
const ROSE = [-0.2, -0.11, 0.12, 0.35, 0.62, 0.71, 0.87, 0.86, 0.87, 0.81, 0.83];

/** Reproducible, without a trend. */
const noise = (n: number) =>
  Array.from({ length: n }, (_, i) => {
    const one = Math.sin(12.9898 * (i + 1)) * 43758.5453;
    return one - Math.floor(one);
  });

describe("what the axis of a chart shows at least", () => {
  it("keeps evaluations within their intervals nearly flat", () => {
    const stalled = drawn(STALLED, { is_evaluation: true }, around(STALLED, 0.14));
    expect(partOf(stalled)).toBeLessThan(0.15);
    const rose = drawn(ROSE, { is_evaluation: true }, around(ROSE, 0.05));
    expect(partOf(rose)).toBe(1);
  });

  it("takes the intervals of its change where those of its level are no noise", () => {
    const losses = [2.1, 2.02, 1.98, 1.95];
    const change = losses.map((loss) => loss - 2.1);
    const metric = { is_evaluation: true, noise_of: "eval/loss_change" };
    const measured = drawn(losses, metric, { ...around(losses, 0.3), noise: around(change, 0.01) });
    expect(partOf(measured)).toBe(1);
    expect(partOf(drawn(losses, metric, around(losses, 0.3)))).toBe(1);
  });

  it("takes the intervals of what is measured alike where a metric has none", () => {
    const heldOut = around([0.07, 0.07, 0.07], 0.07);
    const slipped = [0.0711, 0.07109, 0.07108, 0.07107, 0.07106, 0.07105, 0.07104, 0.07103];
    const metric = { is_evaluation: true, noise_of: "eval/reward" };
    expect(partOf(drawn(slipped, metric, { noise: heldOut }))).toBeLessThan(0.001);
  });

  it("keeps the noise of single steps to half of the height, and a course whole", () => {
    const flat = noise(100);
    expect(partOf(drawn(flat))).toBeLessThan(0.5);
    expect(partOf(drawn(flat.map((value, step) => value / 20 + step / 100)))).toBe(1);
    expect(partOf(drawn(flat, null))).toBeLessThan(0.5);
  });

  it("keeps a few evaluations without an interval within a fifth of their value nearly flat", () => {
    const evaluation = { is_evaluation: true };
    expect(partOf(drawn([5.49, 5.54], evaluation))).toBeLessThan(0.02);
    expect(partOf(drawn([0.02, 1.64], evaluation))).toBe(1);
    expect(partOf(drawn([0.341, 0.352], { ...evaluation, unit: "share" }))).toBeCloseTo(0.011);
    expect(partOf(drawn([5.49, 5.54], {}))).toBe(1);
  });

  it("is what the registry says", () => {
    const small = Array.from({ length: 11 }, (_, i) => 0.00005 * i);
    const kl = { axis: { low: 0, high: 1 }, is_evaluation: true };
    expect(partOf(drawn(small, kl, around(small, 0.00001)))).toBeLessThan(0.001);
    const lengths = [9, 10, 9.5, 10.5, 10, 9, 9, 10, 10];
    expect(partOf(drawn(lengths, { axis: { low: 0, high: 0 } }))).toBeCloseTo(1.5 / 10.5);
  });

  it("is twice the limit of the KL where that is smaller than what the registry says", () => {
    const kl = { axis: { low: 0, high: 1 } };
    const ofName = (name: string) => {
      const one = drawn([0, 0.08, 0.12], kl);
      return { ...one, explained: { ...one.explained, name } };
    };
    const highOf = (name: string, max: unknown) =>
      floorOf(ofName(name), null, { kl: { max } })?.includes?.high;
    expect([highOf("kl/exact", 0.1), highOf("kl/response", 0.1)]).toEqual([0.2, 0.2]);
    expect([highOf("kl/exact", 8), highOf("kl/exact", null), highOf("kl/token", 0.1)]).toEqual([
      1, 1, 1,
    ]);
  });

  it("is from 0 to 1 for a share of every step, by its interval for one of an evaluation", () => {
    const shares = [0.02, 0.03, 0.01, 0.02];
    expect(floorOf(drawn(shares, { unit: "share" }), null)?.includes).toEqual({ low: 0, high: 1 });
    const measured = { unit: "share", is_evaluation: true };
    const accuracy = floorOf(drawn(shares, measured, around(shares, 0.01)), null);
    expect(accuracy?.includes).toBeNull();
    expect([accuracy?.span, accuracy?.most]).toEqual([expect.closeTo(0.08), 1]);
    const few = [0.5, 0.5, 0.6];
    const unsure = drawn(few, measured, around(few, 0.2));
    expect(widened(0.5, 0.6, floorOf(unsure, null))).toEqual([0, 1]);
  });

  it("is what the values span where nothing is known of their noise", () => {
    const none = { includes: null, span: 0 };
    expect(floorOf(drawn([1, 2, 1]), null)).toEqual(none);
    expect(floorOf(drawn(Array.from({ length: 20 }, () => 3)), null)).toEqual(none);
  });

  it("is what the values span in a part that the reader has zoomed into", () => {
    expect(floorOf(drawn(noise(100)), [10, 20])).toBeNull();
  });

  it("shows that memory leaks", () => {
    const memory = Array.from({ length: 50 }, (_, step) => 200 + step * 0.16);
    expect(partOf(drawn(memory, { unit: "GiB" }))).toBe(1);
  });

  it("shows no change of a value by a small part of itself as a large one", () => {
    const memory = Array.from({ length: 20 }, (_, step) => 10 + step / 1000);
    expect(partOf(drawn(memory))).toBeLessThan(0.1);
  });
});
