import { expect, test } from "vitest";

import { bestSaid, saidOf } from "./metric-said";

test("the metric that the verdict rests on decides", () => {
  const verdict = { kind: "improved", judged_by: "eval/reward", exploited: [] } as const;
  expect(saidOf("eval/reward", verdict)).toBe("decides");
  expect(saidOf("reward/mean", verdict)).toBeNull();
  expect(saidOf("eval/reward", null)).toBeNull();
});

test("a reward is called exploited only where the verdict says so", () => {
  const exploited = ["reward/mean"];
  const outside = { kind: "over_optimized", judged_by: "gold/reward", exploited } as const;
  expect(saidOf("gold/reward", outside)).toBe("decides");
  expect(saidOf("reward/mean", outside)).toBe("exploited");
  expect(saidOf("eval/reward", outside)).toBeNull();
});

test("no metric decides where nothing is judged, or by what a policy looks like", () => {
  for (const kind of ["collapsed", "unjudged", "waiting"] as const)
    expect(saidOf("eval/reward", { kind, judged_by: "eval/reward", exploited: [] })).toBeNull();
});

test("the best checkpoint is called best, unless its reward was exploited and another was", () => {
  const verdict = { kind: "over_optimized", judged_by: "gold/reward", best_step: 50 } as const;
  const exploited = { ...verdict, exploited: ["reward/mean", "eval/reward"] };
  expect(bestSaid(100, exploited)).toEqual(["", "best by an exploited reward"]);
  for (const [step, said] of [
    [50, exploited],
    [100, { ...verdict, exploited: ["reward/mean"] }],
    [100, null],
  ] as const)
    expect(bestSaid(step, said)).toEqual(["good", "best"]);
});
