import { describe, expect, it } from "vitest";

import { atEqualLength, canBeJudged, leftToPutUp, saidOf } from "./words";

const run = (method = "generate", state = "succeeded", project_id = "p") =>
  ({ method, state, project_id }) as Parameters<typeof canBeJudged>[0][number];

describe("two runs that people judge", () => {
  it("are generate runs of one project that have all their responses", () => {
    expect(canBeJudged([run(), run()])).toBe(true);
    expect(canBeJudged([run(), run(), run()])).toBe(false);
    expect(canBeJudged([run(), run("sft")])).toBe(false);
    expect(canBeJudged([run(), run("generate", "running")])).toBe(false);
    expect(canBeJudged([run(), run("generate", "succeeded", "q")])).toBe(false);
  });
  it("have pairs left that differ and are not up", () => {
    expect(leftToPutUp({ pairs: 10, identical: 2, put_up: 5 })).toBe(3);
  });
  it("are told apart only where the interval excludes one half", () => {
    const said = (low: number, high: number) =>
      saidOf({ pairs: 9, judged: 5, interval: { low, high } }, "A", "B");
    expect(said(0.51, 0.9)).toBe("People prefer A to B.");
    expect(said(0.1, 0.49)).toBe("People prefer B to A.");
    expect(said(0.5, 0.9)).toBe("People do not clearly prefer A or B.");
    expect(saidOf({ pairs: 9, judged: 1, interval: null }, "A", "B")).toMatch(/too few/);
    expect(saidOf({ pairs: 9, judged: 0, interval: null }, "A", "B")).toMatch(/Nobody/);
    expect(saidOf({ pairs: 0, judged: 0, interval: null }, "A", "B")).toMatch(/no prompt/);
  });
  it("have a win rate at equal length, unless the pairs cannot show it", () => {
    const said = (win_rate_at_equal_length: number | null, interval: [number, number] | null) =>
      atEqualLength({
        win_rate_at_equal_length,
        interval_at_equal_length: interval && { low: interval[0], high: interval[1] },
      });
    expect(said(0.5, [0.4, 0.6])).toBe("At equal length the win rate is 0.500, [0.400, 0.600].");
    expect(said(0.5, null)).toBe("At equal length the win rate is 0.500.");
    expect(said(null, null)).toMatch(/^Win rate at equal length unknown: /);
  });
});
