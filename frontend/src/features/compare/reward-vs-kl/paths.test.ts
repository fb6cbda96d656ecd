import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroup } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { curveAt } from "@testing/curves";

import { measuresOf, missingMeasures, type Measure } from "./measures";
import { pathsOf, whoseOf, type Known } from "./paths";

const group = (...runs: string[]): SeedGroup => ({
  name: runs.join(),
  runs,
  config: {},
  left_out: [],
  values: [],
  value: null,
  interval: null,
  is_iqm: false,
  apart: null,
  why_open: "",
});
const curve = (mean: number[]): Curve =>
  curveAt(
    mean.map((_, i) => 10 * i),
    mean,
  );
const groupCurve = (place: number, name: string, value: number[]): GroupCurve => ({
  group: place,
  name,
  is_iqm: false,
  x: value.map((_, i) => 10 * i),
  n: value.map(() => 3),
  n_nan: value.map(() => 0),
  value,
  low: value.map((one) => one - 1),
  high: value.map((one) => one + 1),
});
const RUNS: Record<string, Record<string, Curve>> = {
  a: { "gold/reward": curve([0, 1]), "kl/exact": curve([0, 2]) },
  b: { "gold/reward": curve([0, 3]), "kl/exact": curve([0, 4]) },
  d: { "gold/reward": curve([0, 2]), "kl/exact": curve([0, 3]) },
  c: {
    "gold/reward": curve([5, 6]),
    "gold/reward_low": curve([4, 5]),
    "gold/reward_high": curve([6, 7]),
    "kl/response": curve([1, 9]),
  },
};
const GROUP_CURVES = [
  groupCurve(0, "gold/reward", [0, 2]),
  groupCurve(0, "kl/exact", [0, 3]),
  groupCurve(1, "gold/reward", [5, 6]),
];
const KNOWN: Known = {
  runs: (run, name) => RUNS[run]?.[name],
  groups: (place, name) => GROUP_CURVES.find((one) => one.group === place && one.name === name),
};
const GROUPS = [group("a", "b", "d"), group("c")];
const GOLD: Measure = {
  name: "gold/reward",
  title: "Gold reward",
  costs: ["kl/exact", "kl/response"],
  isEvaluated: true,
};
const drawn = (...hidden: string[]) =>
  pathsOf(GROUPS, new Set(hidden), GOLD, KNOWN, (run) => `run ${run}`);

describe("reward against KL of groups", () => {
  it("draws the mean of seeds with its interval, and the seeds thin", () => {
    expect(drawn().map((path) => [path.id, path.label, path.isFaint ?? false])).toEqual([
      ["a", "A run a", true],
      ["b", "A run b", true],
      ["d", "A run d", true],
      ["group 0", "A", false],
      ["c", "B", false],
    ]);
    expect(drawn()[3]?.points.at(-1)).toEqual({ step: 10, kl: 3, reward: 2, low: 1, high: 3 });
  });
  it("draws fewer than three seeds as they are, without a mean; a rerun is no seed", () => {
    const rerun = { run: "d", counts: "a", why: "it repeats seed 1, which counts once" };
    const two = { ...group("a", "b", "d"), left_out: [rerun] };
    const paths = pathsOf([two], new Set(), GOLD, KNOWN, (run) => `run ${run}`);
    expect(paths.map((path) => [path.id, path.isFaint ?? false])).toEqual([
      ["a", false],
      ["b", false],
      ["d", false],
    ]);
  });
  it("draws a single run with the interval that it recorded, by the KL that it has", () => {
    expect(drawn()[4]?.points.at(-1)).toEqual({ step: 10, kl: 9, reward: 6, low: 5, high: 7 });
  });
  it("has no mean where reward and KL are those of different seeds", () => {
    // At step 10 one of the three seeds has no KL.
    const fewer = { ...groupCurve(0, "kl/exact", [0, 2.5, 4]), n: [3, 2, 3] };
    const curves = [groupCurve(0, "gold/reward", [0, 2, 5]), fewer];
    const known: Known = {
      runs: () => undefined,
      groups: (place, name) => curves.find((one) => one.group === place && one.name === name),
    };
    const [mean] = pathsOf(GROUPS, new Set(), GOLD, known, (run) => run);
    expect(mean?.points.map(({ step, kl, reward }) => [step, kl, reward])).toEqual([
      [0, 0, 0],
      [20, 4, 5],
    ]);
  });
  it("has a mean by one KL: the first that was measured, not another that happens to fit", () => {
    const fewer = { ...groupCurve(0, "kl/exact", [0, 2]), n: [2, 2] };
    const curves = [
      groupCurve(0, "gold/reward", [0, 2]),
      fewer,
      groupCurve(0, "kl/response", [0, 9]),
    ];
    const known: Known = {
      runs: () => undefined,
      groups: (place, name) => curves.find((one) => one.group === place && one.name === name),
    };
    expect(pathsOf(GROUPS, new Set(), GOLD, known, (run) => run)).toEqual([]);
  });
  it("never changes a mean or an interval when a run is hidden", () => {
    const mean = drawn()[3];
    for (const hidden of [["a"], ["b"], ["a", "b"], ["c"]])
      expect(drawn(...hidden).find((path) => path.id === "group 0")).toEqual(mean);
  });
});

describe("whose picture it is", () => {
  const whose = (groups: readonly SeedGroup[], ...hidden: string[]) =>
    whoseOf(groups, drawn(...hidden), (run) => `run ${run}`);

  it("is told by the letters and names of the groups that are drawn", () => {
    expect(whose(GROUPS)).toBe("A: a,b,d, B: c");
    expect(whose(GROUPS, "c")).toBe("A: a,b,d");
    // The mean of a group stays when its runs are hidden.
    expect(whose(GROUPS, "a", "b", "d")).toBe("A: a,b,d, B: c");
  });
  it("is told by the runs of a group without a name", () => {
    const [seeds, one] = [group("a", "b", "d"), group("c")].map((each) => ({ ...each, name: "" }));
    expect(whose([seeds, one].filter((each) => each !== undefined))).toBe("A: 3 runs, B: run c");
  });
  it("has the length of a title", () => {
    const long = GROUPS.map((one) => ({ ...one, name: "learning rate ".repeat(9) }));
    expect([...whose(long)]).toHaveLength(110);
    expect(whose(long)).toMatch(/^A: learning rate .*…$/);
  });
});

describe("what reward can be", () => {
  const run = (...names: string[]) =>
    ({ config: {}, summary: Object.fromEntries(names.map((name) => [name, 1])) }) as unknown as Run;

  it("is what was recorded beside a KL", () => {
    const runs = [run("eval/reward", "kl/exact"), run("gold/safety", "gold/safety_low")];
    expect(measuresOf(runs).map(({ name }) => name)).toEqual(["eval/reward", "gold/safety"]);
    expect(measuresOf([run("eval/reward")])).toEqual([]);
  });
  it("names what nobody recorded", () => {
    const titles = missingMeasures([run("eval/reward", "gold/win_rate")]).map(({ title }) => title);
    expect(titles).toEqual(["Gold reward"]);
  });
});
