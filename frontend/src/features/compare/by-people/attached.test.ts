import { describe, expect, it } from "vitest";

import { judgeOf, resultsOf, rewardAgainstKl } from "./attached";

const judged = { win_rate: 0.75, interval: { low: 0.6, high: 0.85 }, judged: 40 };

describe("a win rate that is attached to a run", () => {
  it("is one point with its interval, and says who judged against what", () => {
    expect(resultsOf(judged, 8, "samples of sft")).toEqual({
      points: [
        {
          step: 8,
          values: {
            "gold/win_rate": 0.75,
            "gold/win_rate_low": 0.6,
            "gold/win_rate_high": 0.85,
          },
        },
      ],
      judge: "people, 40 pairs against samples of sft",
    });
  });
  it("needs an interval", () => {
    expect(resultsOf({ ...judged, interval: null }, 8, "sft")).toBeNull();
    expect(resultsOf({ win_rate: null, interval: null, judged: 0 }, 8, "sft")).toBeNull();
  });
  it("names a judge of at most 200 characters, none of them cut in two", () => {
    expect(judgeOf(1, "sft")).toBe("people, 1 pair against sft");
    const longest = 200 - judgeOf(2, "").length;
    expect(judgeOf(2, "x".repeat(longest))).toHaveLength(200);
    const cut = [...judgeOf(2, "😀".repeat(longest + 1))];
    expect(cut).toHaveLength(200);
    expect(cut.slice(-2)).toEqual(["😀", "…"]);
  });
  it("is shown against the KL of runs that have one", () => {
    const run = { id: "run_1", project_id: "p", config: { kl: { coef: 0.01 } } };
    expect(rewardAgainstKl(run)).toBe("/projects/p/compare?runs=run_1&measure=gold%2Fwin_rate");
    expect(rewardAgainstKl({ ...run, config: {} })).toBeNull();
  });
});
