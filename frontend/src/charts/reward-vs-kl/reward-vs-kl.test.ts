import { describe, expect, it } from "vitest";

import { nearOf, paired, pointBeside } from "./reward-vs-kl";
import { firstPaired, type Path } from "./path";
import { rowsOf, valuesTextOf } from "./rows";

const kl = { x: [0, 10, 20, 30], values: [0, 1, null, -0.01] };
const reward = { x: [0, 10, 20, 30], values: [0.1, 0.5, 0.6, 0.7] };

describe("reward against KL", () => {
  it("has the steps at which both are known", () => {
    expect(paired(kl, reward).map((point) => point.step)).toEqual([0, 10, 30]);
    expect(paired(kl, { x: [10], values: [0.5] })).toEqual([
      { step: 10, kl: 1, reward: 0.5, low: 0.5, high: 0.5 },
    ]);
  });
  it("keeps a sampled KL below zero as it was measured", () => {
    const points = paired(kl, reward);
    expect(points.at(-1)?.kl).toBe(-0.01);
    const path = { id: "a", label: "training", colour: "--s1", points, isEvaluated: false };
    expect(rowsOf([path]).at(-1)?.slice(0, 3)).toEqual(["training", 30, -0.01]);
  });
  it("has the interval of a reward where there is one", () => {
    const low = { x: [10], values: [0.4] };
    const high = { x: [10], values: [0.6] };
    expect(paired(kl, reward, [low, high]).map((point) => [point.low, point.high])).toEqual([
      [0.1, 0.1],
      [0.4, 0.6],
      [0.7, 0.7],
    ]);
  });
  it("knows of how many steps a point is the mean", () => {
    const long = { x: [511, 600], values: [1, 2], n: [512, 1] };
    expect(paired(long, long).map(({ step, n }) => [step, n])).toEqual([
      [511, 512],
      [600, undefined],
    ]);
    const points = paired(long, long);
    const path = { id: "a", label: "training", colour: "--s1", points, isEvaluated: false };
    expect(rowsOf([path]).map((row) => row.at(-1))).toEqual([512, 1]);
  });
  it("is nothing without one of them", () => {
    expect(paired(undefined, reward)).toEqual([]);
    expect(paired(kl, undefined)).toEqual([]);
  });
});

it("takes the first KL that was measured at steps of the reward", () => {
  const costs = { exact: { x: [5], values: [1] }, response: kl, late: kl };
  const pair = (cost: string) => paired(costs[cost as keyof typeof costs], reward);
  expect(firstPaired(["exact", "response", "late"], pair)?.cost).toBe("response");
  expect(firstPaired(["exact"], pair)).toBeUndefined();
});

describe("the arrow keys", () => {
  const path = (id: string, n: number): Path => ({
    id,
    label: id,
    colour: "--s1",
    isEvaluated: true,
    points: Array.from({ length: n }, (_, step) => ({ step, kl: 0, reward: 0, low: 0, high: 0 })),
  });
  const paths = [path("a", 3), path("none", 0), path("b", 2)];
  const at = (id: string, step: number) => {
    const found = paths.find((one) => one.id === id);
    const point = found?.points[step];
    return found === undefined || point === undefined ? null : { path: found, point };
  };
  const named = (near: ReturnType<typeof at>) => `${near?.path.id ?? ""}${near?.point.step ?? ""}`;

  it("begin at the first point and stop at the ends", () => {
    expect(named(pointBeside(paths, null, [1, 0]))).toBe("a0");
    expect(named(pointBeside(paths, at("a", 0), [1, 0]))).toBe("a1");
    expect(named(pointBeside(paths, at("a", 2), [1, 0]))).toBe("a2");
    expect(named(pointBeside(paths, at("a", 0), [-1, 0]))).toBe("a0");
  });
  it("go round the paths that have points", () => {
    expect(named(pointBeside(paths, at("a", 2), [0, 1]))).toBe("b1");
    expect(named(pointBeside(paths, at("b", 1), [0, 1]))).toBe("a1");
    expect(named(pointBeside(paths, at("a", 0), [0, -1]))).toBe("b0");
  });
  it("go on from where they were when the paths have grown", () => {
    const grown = [path("a", 4), path("none", 0), path("b", 3)];
    const near = nearOf(grown, { path: "a", step: 2 });
    expect(near?.point).toBe(grown[0]?.points[2]);
    expect(named(pointBeside(grown, near, [0, 1]))).toBe("b2");
    expect(named(pointBeside(grown, near, [1, 0]))).toBe("a3");
    expect(nearOf(grown, { path: "gone", step: 2 })).toBeNull();
    expect(nearOf(grown, null)).toBeNull();
  });
  it("stand on the mean that has taken the place of a step", () => {
    const [first] = [path("a", 4)];
    const means = { ...path("a", 4), points: first.points.filter(({ step }) => step % 2 === 1) };
    expect(named(nearOf([means], { path: "a", step: 2 }))).toBe("a3");
  });
  it("find nothing where there is no point", () => {
    expect(pointBeside([path("none", 0)], null, [1, 0])).toBeNull();
  });
});

describe("the numbers behind the picture", () => {
  it("are a row for each point, with an interval where there is one", () => {
    const points = [
      { step: 1, kl: 0.5, reward: 1, low: 1, high: 1 },
      { step: 2, kl: 1.5, reward: 2, low: 1.5, high: 2.5 },
    ];
    const path = { id: "a", label: "held-out", colour: "--s1", points, isEvaluated: true };
    expect(rowsOf([path])).toEqual([
      ["held-out", 1, 0.5, 1, "", "", 1],
      ["held-out", 2, 1.5, 2, 1.5, 2.5, 1],
    ]);
  });
  it("are told as means where a point is of several steps", () => {
    const point = { step: 511, kl: 0.5, reward: 1, low: 1, high: 1 };
    const path = { id: "a", label: "training", colour: "--s1", isEvaluated: false };
    const of = (n: number) => ({ ...path, points: [point, { ...point, n }] });
    expect(valuesTextOf([of(1)])).toBe("exact, all values");
    expect(valuesTextOf([of(1), of(512)])).toBe("means of up to 512 steps");
    const mean = { ...path, points: [point], isMean: true };
    expect(valuesTextOf([of(512), mean])).toBe("means of up to 512 steps");
    expect(valuesTextOf([mean])).toBe("what is drawn");
  });
});
