import { expect, test } from "vitest";

import type { SkipCount } from "@/api/types";

import { byReason } from "./by-reason";

const COUNTS: readonly SkipCount[] = [
  { user_id: "u1", by: "Ada", reason: "not my field", comparisons: 3 },
  { user_id: "u2", by: "Ben", reason: "upsetting", comparisons: 2 },
  { user_id: "u1", by: "Ada", reason: "upsetting", comparisons: 1200 },
];

test("the most frequent reason comes first, with who gave it how often", () => {
  expect(byReason(COUNTS)).toEqual([
    { reason: "upsetting", comparisons: 1202, by: "Ada 1,200, Ben 2" },
    { reason: "not my field", comparisons: 3, by: "Ada 3" },
  ]);
});

test("whoever may not see names is told how many annotators there are", () => {
  const nameless = COUNTS.map((one) => ({ ...one, by: null }));
  expect(byReason(nameless).map(({ by }) => by)).toEqual(["2 annotators", "1 annotator"]);
});

test("no skips are no rows", () => {
  expect(byReason([])).toEqual([]);
});
