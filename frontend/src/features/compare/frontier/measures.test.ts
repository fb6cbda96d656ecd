import { describe, expect, it } from "vitest";

import type { Run } from "@/api/types";

import { isGold, missingMeasures } from "./measures";

const run = (...names: string[]) =>
  ({ summary: Object.fromEntries(names.map((name) => [name, 1])) }) as unknown as Run;

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
