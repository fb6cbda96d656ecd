import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/seed-groups";
import type { Metric, Run, SeedGroups } from "@/api/types";
import { widened } from "@/charts/floor";
import type { Explained } from "@/components/metrics/explained";
import { curveOfSteps } from "@testing/curves";

import type { RunCurve } from "./columns";
import { floorOfAll } from "./floor";
import type { Chart } from "./chart";

const explained = (name: string, metric: Partial<Metric> = {}): Explained => ({
  ...{ name, title: name, group: "Evaluation", order: 0, isEvaluation: true },
  metric: { name, unit: "", ...metric } as Metric,
});

const mean = (group: number, values: readonly number[], half: number): GroupCurve => ({
  ...{ group, name: "", is_iqm: false, x: values.map((_, step) => step), n_nan: [] },
  ...{ n: values.map(() => 3), value: values },
  low: values.map((value) => value - half),
  high: values.map((value) => value + half),
});

const alone = (group: number, values: readonly number[], half: number | null): RunCurve => ({
  ...{ run: `r${group}`, group, explained: explained("m"), curve: curveOfSteps(values) },
  low: half === null ? null : curveOfSteps(values.map((value) => value - half)),
  high: half === null ? null : curveOfSteps(values.map((value) => value + half)),
});

const chart = (more: Partial<Chart>): Chart => ({
  explained: explained("m"),
  answer: { groups: [{ runs: ["r0"] }, { runs: ["r1"] }] } as unknown as SeedGroups,
  runs: new Map([["r0", { config: { kl: { max: 0.1 } } } as unknown as Run]]),
  ...{ axis: "step", zoom: null, groups: [], shown: [] },
  look: { smoothing: 0, isLog: false },
  ...more,
});

/** How much of the height of the axis lies between these values. */
const partOf = (least: number, most: number, of: Chart): number => {
  const [low, high] = widened(least, most, floorOfAll(of));
  return (most - least) / (high - low);
};

describe("what the axis of compared curves shows at least", () => {
  it("keeps means within their intervals nearly flat, and apart what is clear of them", () => {
    const near = [mean(0, [5, 5.02], 0.1), mean(1, [5, 4.98], 0.1)];
    expect(partOf(4.98, 5.02, chart({ groups: near }))).toBeLessThan(0.06);
    const clear = [mean(0, [5, 6], 0.1), mean(1, [5, 5.02], 0.1)];
    expect(partOf(5, 6, chart({ groups: clear }))).toBe(1);
  });

  it("goes by the group or run that is most certain", () => {
    const groups = [mean(0, [5, 5.2], 0.02), mean(1, [5, 5.1], 2)];
    expect(partOf(5, 5.2, chart({ groups }))).toBe(1);
    const shown = [alone(1, [5, 5.2], 0.02)];
    expect(partOf(5, 5.2, chart({ groups: [mean(0, [5, 5.1], 2)], shown }))).toBe(1);
  });

  it("heeds no curve that does not tell how noisy it is, in whichever order", () => {
    const [steady, started] = [alone(0, [5, 5.02], 0.1), alone(1, [5.01], 0.1)];
    for (const shown of [
      [steady, { ...started, low: null, high: null }],
      [{ ...started, low: null, high: null }, steady],
    ])
      expect(partOf(5, 5.02, chart({ shown }))).toBeCloseTo(0.02 / 0.8);
    const share = explained("m", { unit: "share" });
    const groups = [mean(0, [0.5, 0.51], 0.02), mean(1, [0, 0], 0)];
    const spans = [groups, groups.toReversed()].map(
      (both) => floorOfAll(chart({ explained: share, groups: both }))?.span,
    );
    expect(spans[0]).toBeCloseTo(0.16);
    expect(spans[1]).toBe(spans[0]);
  });

  it("is of single values what it is of as many evaluations of one run", () => {
    const shown = [alone(0, [5.49], null), alone(1, [5.54], null)];
    expect(partOf(5.49, 5.54, chart({ shown }))).toBeLessThan(0.02);
  });

  it("is that of its page for a run alone", () => {
    expect(partOf(5, 5.05, chart({ shown: [alone(0, [5, 5.05], 0.1)] }))).toBeCloseTo(0.05 / 0.8);
    expect(partOf(5, 5.05, chart({ shown: [alone(0, [5, 5.05], null)] }))).toBeLessThan(0.02);
  });

  it("is what the registry says, as far as the smallest limit", () => {
    const kl = explained("kl/exact", { axis: { low: 0, high: 1 } });
    const groups = [mean(1, [0, 0.01], 0.001), mean(0, [0, 0.01], 0.001)];
    expect(floorOfAll(chart({ explained: kl, groups }))?.includes).toEqual({ low: 0, high: 0.2 });
  });

  it("is nothing of a part that somebody zoomed into, nor of nothing", () => {
    expect(floorOfAll(chart({ groups: [mean(0, [5, 5.02], 0.1)], zoom: [0, 1] }))).toBeNull();
    expect(floorOfAll(chart({}))).toBeNull();
  });
});
