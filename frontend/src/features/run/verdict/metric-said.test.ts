import { expect, test } from "vitest";

import { saidOf } from "./metric-said";

test("the metric that the verdict rests on decides", () => {
  const verdict = { kind: "improved", judged_by: "eval/reward" } as const;
  expect(saidOf("eval/reward", verdict)).toBe("decides");
  expect(saidOf("reward/mean", verdict)).toBeNull();
  expect(saidOf("eval/reward", null)).toBeNull();
});

test("a reward is called exploited only where a measure from outside shows it", () => {
  const outside = { kind: "over_optimized", judged_by: "gold/reward" } as const;
  expect(saidOf("gold/reward", outside)).toBe("decides");
  for (const name of ["eval/reward", "eval/objective", "reward/mean"])
    expect(saidOf(name, outside)).toBe("exploited");
  expect(saidOf("kl/exact", outside)).toBeNull();
  const own = { kind: "over_optimized", judged_by: "eval/reward" } as const;
  expect(saidOf("reward/mean", own)).toBeNull();
});
