import { describe, expect, it } from "vitest";

import type { Metric } from "@/api/types";

import { endsOf, explainer, isEnd } from "./explained";

const metric = (name: string, more: Partial<Metric> = {}): Metric => ({
  name,
  title: name,
  what: "It is.",
  healthy: "It rises.",
  unit: "",
  group: "Reward",
  is_key: false,
  is_training: false,
  is_evaluation: false,
  has_interval: false,
  ...more,
});

const explain = explainer([
  metric("eval/reward", { title: "Held-out reward", is_evaluation: true, has_interval: true }),
  metric("eval/pass@{k}", { title: "pass@{k}", has_interval: true }),
  metric("reward/mean", { title: "Training reward" }),
  metric("reward/{term}", { title: "Reward term {term}" }),
  metric("gold/{name}", { title: "Gold {name}", is_evaluation: true, has_interval: true }),
]);

describe("what is known of a metric", () => {
  it("is that of its name before that of a pattern, and patterns name their part", () => {
    const titles = ["reward/mean", "reward/regex", "eval/pass@16", "gold/my_policy/$&"].map(
      (name) => explain(name).title,
    );
    expect(titles).toEqual([
      "Training reward",
      "Reward term regex",
      "pass@16",
      // A name may have slashes, and nothing in it is read as a command.
      "Gold my policy/$&",
    ]);
    expect(explain("reward/mean").order).toBeLessThan(explain("reward/regex").order);
  });
  it("has every part of a name in its title, whatever the order of the patterns", () => {
    const several = explainer([
      metric("eval/{set}/{measure}/{key}.{value}", {
        title: "{set}: {measure} where {key} is {value}",
      }),
      metric("eval/{measure}/{key}.{value}", { title: "{measure} where {key} is {value}" }),
      metric("eval/{set}/{measure}", { title: "{set}: {measure}" }),
      metric("baseline/{set}/{measure}", { title: "Baseline on {set}: {measure}" }),
    ]);
    const titles = [
      "eval/unseen/maj@2/people.5",
      "eval/pass@1/level.0.5",
      "eval/unseen/length",
      "baseline/unseen/reward",
    ].map((name) => several(name).title);
    expect(titles).toEqual([
      "unseen: maj@2 where people is 5",
      "pass@1 where level is 0.5",
      "unseen: length",
      "Baseline on unseen: reward",
    ]);
  });
  it("is its name alone where nobody has said more, and it comes last", () => {
    const unknown = explain("curve/long");
    expect(unknown).toMatchObject({ title: "curve/long", metric: null, isEvaluation: false });
    expect(unknown.order).toBe(Infinity);
    expect(explain("eval/mine").isEvaluation).toBe(true);
  });
});

describe("the ends of an interval", () => {
  const names = new Set([
    ...["eval/reward", "eval/reward_low", "eval/reward_high"],
    ...["gold/a", "gold/a_low"],
    ...["reward/mean", "reward/mean_low", "reward/mean_high"],
    ...["mine", "mine_low", "mine_high"],
    ...["clip_low"],
  ]);
  it("are both there, of a metric that may have them or that nobody knows", () => {
    expect(endsOf("eval/reward", names, explain)).toEqual(["eval/reward_low", "eval/reward_high"]);
    expect(endsOf("mine", names, explain)).toEqual(["mine_low", "mine_high"]);
    expect(endsOf("gold/a", names, explain)).toBeNull();
    expect(endsOf("reward/mean", names, explain)).toBeNull();
  });
  it("are charts of their own only where they are the ends of nothing", () => {
    const own = [...names].filter((name) => !isEnd(name, names, explain));
    expect(own).toEqual([
      ...["eval/reward", "gold/a", "gold/a_low"],
      ...["reward/mean", "reward/mean_low", "reward/mean_high", "mine", "clip_low"],
    ]);
  });
});
