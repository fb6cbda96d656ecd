import { describe, expect, test } from "vitest";

import type { Agreement, Facts } from "@/api/types";

import {
  besideChance,
  decimals,
  headline,
  percent,
  range,
  shareCertainty,
  whenKnown,
  whyNoInterval,
  whyUndefined,
} from "./words";

type Pairwise = Facts["agreement"];

const NONE: Pairwise = {
  value: null,
  interval: null,
  observed: null,
  expected: null,
  comparisons: 0,
};
const SHARE = { value: null, by_chance: null, interval: null, comparisons: 0 };

function found(agreement: Pairwise, judgedTwice: number): Agreement {
  const everybody: Facts = {
    judgments: 9,
    agreement,
    self_consistency: SHARE,
    first_shown: SHARE,
    longer: SHARE,
    reward_accuracy: SHARE,
    tie_rate: null,
    median_active_s: null,
  };
  return {
    criterion: "",
    everybody,
    judged_twice: judgedTwice,
    annotators: [],
    weeks: [],
    ranks: [],
    disputes: [],
  };
}

test("what is not defined is n/a, never a number", () => {
  expect([decimals(null), percent(null), range(null)]).toEqual(["n/a", "n/a", "n/a"]);
});

test("numbers have two digits, one minus sign and no negative zero", () => {
  expect([decimals(0.618), decimals(-0.25), decimals(-0.001), decimals(1)]).toEqual([
    "0.62",
    "−0.25",
    "0.00",
    "1.00",
  ]);
  expect(range([-0.1, 0.5])).toBe("−0.10 to 0.50");
});

test("nearly none is not none, and nearly all is not all", () => {
  expect([percent(0), percent(0.003), percent(0.314), percent(0.996), percent(1)]).toEqual([
    "0 %",
    "under 1 %",
    "31 %",
    "over 99 %",
    "100 %",
  ]);
  expect(decimals(0.9996)).toBe("over 0.99");
});

describe("why there is no agreement", () => {
  test("nobody judged the same comparison", () => {
    expect(whyUndefined(found(NONE, 0))).toMatch(/^No comparison was ranked by two annotators\./);
  });
  test("they placed different responses", () => {
    expect(whyUndefined(found(NONE, 4))).toMatch(/no two of the same responses/);
  });
  test("everybody tied everything", () => {
    expect(whyUndefined(found({ ...NONE, observed: 1, expected: 1, comparisons: 4 }, 4))).toMatch(
      /tied/,
    );
  });
  test("there is one", () => {
    expect(whyUndefined(found({ ...NONE, value: 0.4, comparisons: 4 }, 4))).toBeNull();
  });
});

describe("when there will be an agreement", () => {
  const one = { judgments_per_comparison: 1, overlap_first: 0, overlap_share: 0 };
  test("some comparisons want two judgments", () => {
    for (const more of [
      { judgments_per_comparison: 2 },
      { overlap_first: 1 },
      { overlap_share: 0.1 },
    ])
      expect(whenKnown({ ...one, ...more })).toMatch(/^As soon as two annotators/);
  });
  test("each wants one, so somebody has to ask for two", () => {
    expect(whenKnown(one)).toMatch(/ask for two of some of them in Settings/);
  });
});

test("an interval that is missing says how many comparisons it needs", () => {
  expect(whyNoInterval({ ...NONE, value: 1, comparisons: 1 })).toBe(
    "No interval yet: it needs 20 comparisons ranked by two annotators; there is 1.",
  );
  expect(whyNoInterval({ ...NONE, value: 1, interval: [0.8, 1], comparisons: 30 })).toBeNull();
});

test("a share says of how many comparisons it is, or how many its interval needs", () => {
  const share = { value: 1, by_chance: 0.5, comparisons: 1 };
  expect(shareCertainty({ ...share, interval: null })).toBe(
    "95 % interval n/a: it needs 20 comparisons; there is 1.",
  );
  expect(shareCertainty({ ...share, interval: [0.81, 1], comparisons: 28 })).toBe(
    "95 % interval 81 % to 100 %, over 28 comparisons.",
  );
});

test("the headline names both shares", () => {
  const words = headline({ ...NONE, value: 0.2, observed: 0.6, expected: 0.5 });
  expect(words).toContain("agreed on 60 % of the pairs");
  expect(words).toContain("By chance alone it would have been 50 %.");
});

test("a share is beside chance only where its interval excludes chance", () => {
  const share = { value: 0.6, by_chance: 0.5, comparisons: 100 };
  expect(besideChance({ ...share, interval: [0.51, 0.7] })).toBe("above");
  expect(besideChance({ ...share, interval: [0.3, 0.49] })).toBe("below");
  expect(besideChance({ ...share, interval: [0.49, 0.7] })).toBeNull();
  expect(besideChance({ ...share, interval: null })).toBeNull();
});
