import { describe, expect, it } from "vitest";

import type { Run } from "@/api/types";

import { chosenOf, isGold, measuresOf, missingMeasures } from "./measures";

const run = (...names: string[]) =>
  ({ config: {}, summary: Object.fromEntries(names.map((name) => [name, 1])) }) as unknown as Run;

describe("the evaluations that runs have not recorded", () => {
  it("are those of none of the runs", () => {
    const runs = [run("gold/reward", "kl/exact"), run("eval/reward")];
    expect(missingMeasures(runs).map(({ name }) => name)).toEqual(["gold/win_rate"]);
  });
  it("are attached if they are gold; the held-out reward cannot be", () => {
    const missing = missingMeasures([run("kl/exact")]);
    expect(missing.map((one) => [one.name, isGold(one)])).toEqual([
      ["gold/reward", true],
      ["gold/win_rate", true],
      ["eval/reward", false],
    ]);
  });
});

describe("the reward of training", () => {
  const trained = (normalize: string) => ({
    ...run("reward/mean", "reward/raw_mean", "kl/response", "eval/reward"),
    config: { reward: { normalize } },
  });
  const named = (...runs: Run[]) => measuresOf(runs).map(({ name }) => name);

  it("is in a unit that running statistics do not change, as on the page of a run", () => {
    expect(named(trained("model"))).toEqual(["eval/reward", "reward/mean"]);
    expect(named(trained("running"))).toEqual(["eval/reward", "reward/raw_mean"]);
    expect(named(trained("model"), trained("running"))).toContain("reward/raw_mean");
  });
  it("stands before its terms, after every evaluation", () => {
    const terms = [{ kind: "model" }, { kind: "knights", weight: 0 }];
    const watched = {
      ...run("reward/mean", "reward/knights", "kl/response", "eval/pass@1", "eval/ood/reward"),
      config: { reward: { terms } },
    };
    expect(measuresOf([watched]).map(({ name, costs }) => [name, costs[0]])).toEqual([
      ["eval/pass@1", "kl/exact"],
      ["eval/ood/reward", "kl/exact"],
      ["reward/mean", "kl/response"],
      ["reward/knights", "kl/response"],
    ]);
    expect(chosenOf(measuresOf([watched]), "reward/raw_mean")?.name).toBe("reward/mean");
  });
  it("is chosen by an address from before, whatever its unit is", () => {
    const measures = measuresOf([trained("running")]);
    expect(chosenOf(measures, "reward/mean")?.name).toBe("reward/raw_mean");
    expect(chosenOf(measures, "reward/raw_mean")?.name).toBe("reward/raw_mean");
    expect(chosenOf(measures, "loss")?.name).toBe("eval/reward");
    expect(chosenOf(measures, null)?.name).toBe("eval/reward");
  });
});
