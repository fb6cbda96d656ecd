import { describe, expect, it } from "vitest";

import type { Curve } from "@/charts/live-curves";

import { diagnosisOf, trendOf } from "./reward-diagnosis";

const curve = (from: number, to: number, n = 20): Curve => {
  const mean = Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1));
  return {
    x: mean.map((_, i) => i),
    min: mean,
    max: mean,
    mean,
    last: mean,
    nNan: mean.map(() => 0),
  };
};

const curves = (reward: Curve, kl: Curve, length: Curve) =>
  new Map([
    ["reward/mean", reward],
    ["kl/response", kl],
    ["length/mean", length],
  ]);

describe("the diagnosis of reward, KL and length together", () => {
  it("calls the textbook reward hack by its name", () => {
    const diagnosis = diagnosisOf(curves(curve(-1.29, 1.37), curve(0, 11), curve(30, 6)));
    expect(diagnosis?.level).toBe("bad");
    expect(diagnosis?.title).toMatch(/reward hacking/);
    expect(diagnosis?.facts).toMatch(/nats per response/);
  });
  it("is content while KL is small and length holds", () => {
    expect(diagnosisOf(curves(curve(0, 1), curve(0, 0.8), curve(20, 19)))?.level).toBe("good");
  });
  it("warns of a far policy and of collapsing responses alone", () => {
    expect(diagnosisOf(curves(curve(0, 1), curve(0, 8), curve(20, 20)))?.level).toBe("warn");
    expect(diagnosisOf(curves(curve(0, 1), curve(0, 1), curve(20, 4)))?.level).toBe("warn");
  });
  it("says that a reward has not risen", () => {
    expect(diagnosisOf(curves(curve(1, 0), curve(0, 1), curve(9, 9)))?.title).toMatch(/not risen/);
  });
  it("says nothing of too few points", () => {
    expect(diagnosisOf(curves(curve(0, 1, 3), curve(0, 1, 3), curve(9, 9, 3)))).toBeNull();
    expect(trendOf(undefined)).toBeNull();
  });
});
