import { describe, expect, it } from "vitest";

import type { Metric } from "@/api/types";
import { placeText } from "@/charts/axes";
import {
  columnsOf,
  nNotPositive,
  plotted,
  shapeOf,
  vertexText,
  type Drawn,
} from "@/components/chart/columns";
import { explainer } from "@/components/metrics/explained";
import { bucketsAt, curveAt } from "@testing/curves";

import { MOST_FIRST, layOut, rangeOf } from "./layout";

const metric = (name: string, group: Metric["group"], more: Partial<Metric> = {}): Metric => ({
  ...{ name, group, title: name, what: "It is.", healthy: "It rises.", unit: "" },
  ...{ is_key: false, is_training: false, is_evaluation: false, has_interval: false },
  ...more,
});

const evaluation = { is_key: true, is_evaluation: true, has_interval: true };
const REGISTRY = [
  metric("eval/reward", "Evaluation", { ...evaluation, title: "Held-out reward" }),
  metric("gold/{name}", "Measured outside", evaluation),
  metric("reward/mean", "Reward", { is_key: true }),
  ...Array.from({ length: 20 }, (_, n) => metric(`reward/part_${n}`, "Reward")),
  metric("entropy", "KL and entropy", { is_key: true }),
  metric("lr", "Updates"),
  metric("system/cpu_cores", "System"),
];
const explain = explainer(REGISTRY);

const TWO = () => curveAt([1, 2], [3, 4]);
const layoutOf = (names: string[], search = "") =>
  layOut(new Map(names.map((name) => [name, TWO()])), explain, search);
const named = (charts: readonly Drawn[]) => charts.map((chart) => chart.explained.name);
const PARTS = Array.from({ length: 20 }, (_, n) => `reward/part_${n}`);

describe("which charts a run has", () => {
  it("are those that tell most, at most twelve of them, in the order of the registry", () => {
    const { first, folded } = layoutOf(["mine", "lr", ...PARTS, "entropy", "eval/reward"]);
    expect(first).toHaveLength(MOST_FIRST);
    expect(named(first).slice(0, 3)).toEqual(["eval/reward", "entropy", "reward/part_0"]);
    expect(folded.map(({ title, charts }) => [title, charts.length])).toEqual([
      ["Reward", 10],
      ["Updates", 1],
      ["Other", 1],
    ]);
  });
  it("are all of a run that has few, its own metrics among them", () => {
    const { first, folded } = layoutOf(["mine", "reward/mean"]);
    expect(named(first)).toEqual(["reward/mean", "mine"]);
    expect(folded).toEqual([]);
  });
  it("are not hidden by one pattern with many names", () => {
    const gold = Array.from({ length: 30 }, (_, n) => `gold/${String(n).padStart(2, "0")}`);
    const { first } = layoutOf([...gold, "reward/mean", "entropy"]);
    expect(named(first).slice(0, 5)).toEqual([
      ...["gold/00", "gold/01", "gold/02", "reward/mean", "entropy"],
    ]);
  });
  it("come behind those that are pinned, and are not there twice", () => {
    const names = ["mine", "lr", ...PARTS, "entropy", "eval/reward"];
    const curves = new Map(names.map((name) => [name, TWO()]));
    const pins = ["lr", "nowhere", "entropy"];
    const { pinned, first, folded } = layOut(curves, explain, "", pins);
    expect(named(pinned)).toEqual(["lr", "entropy"]);
    expect(pinned.length + first.length).toBe(MOST_FIRST);
    const shown = [...pinned, ...first, ...folded.flatMap(({ charts }) => charts)];
    expect(named(shown).toSorted()).toEqual(names.toSorted());
  });
  it("begin with the metric that judges the run, wherever it stands in order, below the pins", () => {
    const curves = new Map(
      [...Array.from({ length: 20 }, (_, n) => `reward/part_${n}`), "reward/mean", "lr"].map(
        (name) => [name, TWO()],
      ),
    );
    const { first, folded } = layOut(curves, explain, "", [], "lr");
    expect([named(first)[0], first.length]).toEqual(["lr", MOST_FIRST]);
    expect(folded.flatMap(({ charts }) => named(charts))).not.toContain("lr");
    const pinned = layOut(curves, explain, "", ["lr", "entropy"], "lr");
    expect([named(pinned.pinned), named(pinned.first)[0]]).toEqual([["lr"], "reward/mean"]);
    expect(named(layOut(curves, explain, "", [], "gold/none").first)[0]).toBe("reward/mean");
  });
  it("have the intervals that tell how noisy they are", () => {
    const told = explainer([metric("loss", "Updates", { noise_of: "eval/reward" }), ...REGISTRY]);
    const names = ["loss", "eval/reward", "eval/reward_low", "eval/reward_high"];
    const of = (curves: readonly string[]) =>
      layOut(new Map(curves.map((name) => [name, TWO()])), told).first.find(
        ({ explained }) => explained.name === "loss",
      );
    expect(of(names)?.noise?.low.last).toEqual([3, 4]);
    expect([of(names)?.low, of(["loss"])?.noise]).toEqual([null, null]);
  });
  it("leave what the machine had to do folded, however few there are", () => {
    const { first, folded } = layoutOf(["reward/mean", "system/cpu_cores"]);
    expect(named(first)).toEqual(["reward/mean"]);
    expect(folded.map(({ title }) => title)).toEqual(["System"]);
  });
  it("leave values that were measured once to a table, with their interval", () => {
    const curves = new Map([
      ["eval/reward", curveAt([8], [0.5])],
      ["eval/reward_low", curveAt([8], [0.4])],
      ["eval/reward_high", curveAt([8], [0.6])],
      ["reward/mean", TWO()],
      ["lr", curveAt([], [])],
    ]);
    const { first, single } = layOut(curves, explain);
    expect(named(first)).toEqual(["reward/mean"]);
    expect(named(single)).toEqual(["eval/reward"]);
    expect([single[0]?.low?.last, single[0]?.high?.last]).toEqual([[0.4], [0.6]]);
  });
  it("are found by title and by name, whatever the case", () => {
    expect(named(layoutOf(["eval/reward", "reward/mean", "lr"], " HELD-out").first)).toEqual([
      "eval/reward",
    ]);
    expect(named(layoutOf(["eval/reward", "reward/mean", "lr"], "reward/").first)).toEqual([
      "reward/mean",
    ]);
  });
  it("share one horizontal range", () => {
    const drawn = (x: number[]): Drawn => ({
      ...{ explained: explain("lr"), curve: curveAt(x, x), low: null, high: null },
    });
    expect(rangeOf([drawn([0, 50]), drawn([1, 2, 120])])).toEqual([0, 120]);
    expect(rangeOf([drawn([5])])).toBeNull();
    expect(rangeOf([])).toBeNull();
  });
});

describe("what a chart draws", () => {
  const evaluated: Drawn = {
    explained: explain("eval/reward"),
    curve: bucketsAt([0, 50, 100], [0.4, 0.6, 0.2], 0.1),
    low: curveAt([0, 100], [0.3, 0.1]),
    high: curveAt([0, 100], [0.5, 0.3]),
  };
  it("is never smoothed where it was evaluated: the last of each, markers and whiskers", () => {
    const [x, values, smoothed, high, low] = columnsOf(evaluated, 0.9, false);
    expect(x).toEqual([0, 50, 100]);
    expect(values).toEqual(evaluated.curve.last);
    expect(smoothed).toEqual([null, null, null]);
    // An evaluation without an interval has no whisker.
    expect([high, low]).toEqual([
      [0.5, null, 0.3],
      [0.3, null, 0.1],
    ]);
    const { lines, whiskers, bands } = shapeOf(evaluated, "--s1", 0.9);
    expect(lines[0]).toMatchObject({ isMarked: true });
    expect(lines[1]).toMatchObject({ isHidden: true });
    expect([whiskers, bands]).toEqual([[[3, 4]], []]);
  });
  it("is a band where there are more intervals than whiskers fit", () => {
    const many = Array.from({ length: 300 }, (_, n) => n);
    const dense = { ...evaluated, curve: curveAt(many, many) };
    const { lines, whiskers, bands } = shapeOf(dense, "--s1", 0.9);
    expect(lines[0]).toMatchObject({ isMarked: false });
    expect([whiskers, bands]).toEqual([[], [[3, 4]]]);
  });
  it("is a line with its smoothed course, and the extremes of its buckets", () => {
    const trained: Drawn = {
      ...{ explained: explain("entropy"), low: null, high: null },
      curve: bucketsAt([1, 2], [4, 8], 1),
    };
    const [, values, smoothed, high, low] = columnsOf(trained, 0.5, false);
    expect(values).toEqual([4, 8]);
    // (0.5 x 2 + 0.5 x 8) / 0.75
    expect(smoothed).toEqual([4, 20 / 3]);
    expect([high, low]).toEqual([
      [5, 9],
      [3, 7],
    ]);
    expect(shapeOf(trained, "--s1", 0.5).bands).toEqual([[3, 4]]);
    const plain = { ...trained, curve: TWO() };
    expect(shapeOf(plain, "--s1", 0).bands).toEqual([]);
    expect(columnsOf(plain, 0, true)[1]).toEqual([3, 4]);
  });
  it("marks where a value is missing, and says so", () => {
    const broken: Drawn = {
      ...{ explained: explain("lr"), low: null, high: null },
      curve: curveAt([10, 20, 30, 40], [1, null, 2.5, null]),
    };
    const { marks, label, data } = plotted(broken, { smoothing: 0, isLog: false }, "--s1");
    expect(marks).toEqual([20, 40]);
    expect(label).toBe("lr: 4 points, 2 of them without a value, newest 2.50");
    expect(data[1]).toEqual([1, null, 2.5, null]);
    const whole = plotted({ ...broken, curve: TWO() }, { smoothing: 0, isLog: false }, "--s1");
    expect([whole.marks, whole.label]).toEqual([[], "lr: 2 points, newest 4"]);
  });
  it("says of buckets that they are, and keeps the newest value apart from their means", () => {
    const long: Drawn = {
      ...{ explained: explain("entropy"), low: null, high: null },
      curve: { ...bucketsAt([511, 1023], [4, 8], 1, 512), ends: { n: 1024, first: 2, newest: 9 } },
    };
    const { label } = plotted(long, { smoothing: 0, isLog: false }, "--s1");
    expect(label).toBe("entropy: 1,024 points, drawn as the means of 2 buckets, newest 9");
    expect(vertexText(long, "step", 1)).toBe("mean of 512 values up to step 1,023");
    expect(vertexText({ ...long, explained: explain("eval/reward") }, "tokens", 0)).toBe(
      "last of 512 values up to 511 tokens",
    );
    expect(vertexText({ ...long, curve: curveAt([7], [1]) }, "step", 0)).toBe("step 7");
  });
  it("counts what a logarithmic scale cannot draw", () => {
    const around: Drawn = {
      ...{ explained: explain("eval/reward"), curve: curveAt([1, 2, 3, 4], [0, 0.5, null, 2]) },
      ...{ low: curveAt([2, 4], [-0.1, 1]), high: curveAt([2, 4], [1, 3]) },
    };
    expect(nNotPositive(around)).toBe(2);
    expect(nNotPositive({ ...around, curve: curveAt([4], [2]) })).toBe(0);
    const { label } = plotted(around, { smoothing: 0, isLog: true }, "--s1");
    expect(label).toBe(
      "Held-out reward: 4 points, 1 of them without a value, 2 points with a value or interval end of 0 or less, newest 2",
    );
  });
  it("says where the cursor is", () => {
    expect(placeText("step", 1200)).toBe("step 1,200");
    expect(placeText("tokens", 1_000_000)).toBe("1,000,000 tokens");
    expect(placeText("relative", 75)).toBe("after 1 min 15 s");
  });
});
