import { expect, it } from "vitest";

import { toldOf } from "./told-of-policy";

const watched = { reward: { terms: [{ kind: "model" }, { kind: "knights", weight: 0 }] } };

it("a policy is told by what passed, by its sets and by the terms of a reward of several", () => {
  const names = ["eval/pass@1", "eval/pass@1_low", "eval/pass@1/level.3", "eval/reward"];
  const ofSets = [
    "eval/ood/reward",
    "eval/ood/pass@1",
    "eval/ood/pass@1/level.3",
    "eval/ood/length",
  ];
  const ofTerms = ["reward/model", "reward/knights", "reward/mean", "reward/knights_coverage"];

  const told = toldOf([{ config: watched }], [...names, ...ofSets, ...ofTerms]);

  expect(told.map(({ name, title, isEvaluated }) => [name, title, isEvaluated])).toEqual([
    ["eval/pass@1", "Held-out pass@1", true],
    ["eval/ood/pass@1", "ood: pass@1", true],
    ["eval/ood/reward", "ood: reward", true],
    ["reward/model", "Reward term model", false],
    ["reward/knights", "Reward term knights", false],
  ]);
});

it("the only term of a reward is the reward", () => {
  expect(toldOf([{ config: { reward: { terms: [{ kind: "math" }] } } }], ["reward/math"])).toEqual(
    [],
  );
});
