import { describe, expect, it } from "vitest";

import type { Metric, Run } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { curveOfSteps } from "@testing/curves";

import { candidates, curvesAsked, headlineOf, headlinesOf, madeBy, trendRange } from "./headline";

const metric = (name: string, title: string): Metric => ({
  ...{ name, title, group: "Evaluation", what: "", unit: "", healthy: "", direction: null },
  ...{ is_key: false, is_training: !name.startsWith("eval/"), has_interval: false },
  is_evaluation: name.startsWith("eval/"),
});
const method = (name: Run["method"], ...metrics: Metric[]) => ({
  method: name,
  headlines: metrics.map((one) => one.name),
  metrics: [metric("grad_norm", "Gradient norm"), ...metrics.toReversed()],
});
const headlines = headlinesOf([
  method("sft", metric("eval/loss", "Held-out loss"), metric("loss", "Training loss")),
  method("evaluate", metric("eval/win_rate", "Win rate"), metric("eval/reward", "Reward")),
  method(
    "policy_gradient",
    metric("eval/reward", "Held-out reward"),
    metric("reward/mean", "Training reward"),
  ),
]);

const run = (method: Run["method"], ...names: string[]) => ({
  method,
  summary: Object.fromEntries(names.map((name) => [name, 1])),
});
const curves = (known: Record<string, number[]>) =>
  new Map(Object.entries(known).map(([name, values]) => [name, curveOfSteps(values)]));
const title = (one: ReturnType<typeof run>, known: Record<string, number[]>) =>
  headlineOf(one, curves(known), headlines)?.title;

describe("the metric that stands for a run", () => {
  it("is an evaluation, also a sole one, else that of training, and says which", () => {
    const policy = run("policy_gradient", "reward/mean", "eval/reward", "loss");
    expect(title(policy, { "reward/mean": [1, 2, 3], "eval/reward": [1, 2] })).toBe(
      "held-out reward",
    );
    expect(title(policy, { "reward/mean": [1, 2, 3], "eval/reward": [1] })).toBe("held-out reward");
    expect(title(run("policy_gradient", "reward/mean"), { "reward/mean": [1, 2] })).toBe(
      "training reward",
    );
    expect(title(run("sft", "loss", "eval/loss"), { loss: [2, 1], "eval/loss": [2, 1] })).toBe(
      "held-out loss",
    );
  });
  it("is gold where that was attached, as for the verdict: with two values before held-out", () => {
    const gold = ["gold/safety", "gold/win_rate", "gold/win_rate_low", "gold/win_rate_high"];
    const policy = run("policy_gradient", "reward/mean", "eval/reward", ...gold);
    expect(candidates(policy, headlines).slice(0, 3)).toEqual([
      ...["gold/win_rate", "gold/safety", "eval/reward"],
    ]);
    const heldOut = { "eval/reward": [1, 2] };
    expect(title(policy, { ...heldOut, "gold/win_rate": [0.5, 0.6] })).toBe("gold win rate");
    expect(title(policy, { ...heldOut, "gold/win_rate": [0.5] })).toBe("held-out reward");
    expect(title(policy, { ...heldOut, "gold/win_rate": [0.5], "gold/safety": [0, 1] })).toBe(
      "gold safety",
    );
    expect(title(policy, { "eval/reward": [1], "gold/win_rate": [0.5] })).toBe("gold win rate");
  });
  it("has the interval of its newest value, never that of an earlier one", () => {
    const summary = { "gold/reward": 0.5, "gold/reward_low": 0.25, "gold/reward_high": 0.75 };
    const policy = { method: "policy_gradient", summary } as const;
    const known = {
      "gold/reward": curveOfSteps([1, 0.5]),
      "gold/reward_low": curveOfSteps([0.75, 0.25]),
    };
    const interval = (low: Curve) =>
      headlineOf(policy, new Map(Object.entries({ ...known, "gold/reward_low": low })), headlines)
        ?.interval;
    expect(interval(known["gold/reward_low"])).toEqual({ low: 0.25, high: 0.75 });
    expect(interval(curveOfSteps([0.25]))).toBeNull();
    expect(curvesAsked(policy, headlines)).toEqual(Object.keys(summary));
  });
  it("is the held-out one until its curve is known", () => {
    expect(title(run("policy_gradient", "reward/mean", "eval/reward"), {})).toBe("held-out reward");
  });
  it("is one that the service names for the method, in its order", () => {
    const all = ["loss", "reward/mean", "grad_norm", "eval/reward", "eval/win_rate"] as const;
    const of = (name: Run["method"]) => candidates(run(name, ...all), headlines);
    expect(of("policy_gradient")).toEqual(["eval/reward", "reward/mean"]);
    expect(of("evaluate")).toEqual(["eval/win_rate", "eval/reward"]);
    expect(of("sft")).toEqual(["loss"]);
    expect(of("generate")).toEqual([]);
  });
  it("is what was attached until the service has answered", () => {
    const policy = run("policy_gradient", "reward/mean", "gold/reward");
    expect(candidates(policy, new Map())).toEqual(["gold/reward"]);
    expect(headlineOf(run("sft", "loss"), new Map(), new Map())).toBeNull();
  });
  it("is of an evaluation what it measured, once", () => {
    const evaluation = run("evaluate", "eval/reward", "eval/win_rate");
    expect(title(evaluation, { "eval/win_rate": [0.6], "eval/reward": [1] })).toBe("win rate");
    expect(title(run("evaluate", "eval/reward"), { "eval/reward": [1] })).toBe("reward");
  });
});

describe("the trend of a run", () => {
  const trend = (values: number[], low: number, high: number) => {
    const summary = { "eval/reward": 1, "eval/reward_low": low, "eval/reward_high": high };
    const found = headlineOf(
      { method: "policy_gradient", summary },
      curves({ "eval/reward": values, "eval/reward_low": values }),
      headlines,
    );
    return found === null ? null : trendRange(found);
  };
  it("has its own range where it moves more than twice its interval", () => {
    expect(trend([0, 1], 0.8, 1.2)).toEqual([0, 1]);
  });
  it("is never drawn finer than that, so that noise does not look like a course", () => {
    expect(trend([1, 1.5], 1, 2)).toEqual([0.25, 2.25]);
  });
});

describe("a run without such a metric", () => {
  const made = (result: Run["result"], output_bytes: number, responses?: number) =>
    madeBy({ result, output_bytes, summary: responses === undefined ? {} : { responses } });
  it("says what it made", () => {
    expect(made("responses", 90_000, 160)).toBe("160 responses");
    expect(made("causal_lm", 270_000_000)).toBe("model, 270 MB");
    expect(made("responses", 90_000)).toBe("90.0 kB");
    expect(made("causal_lm", 0)).toBeNull();
  });
});
