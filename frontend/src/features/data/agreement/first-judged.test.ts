import { expect, test } from "vitest";

import { firstJudged } from "./first-judged";

const counts = (judged: Readonly<Record<string, number>>) => ({
  judgments: 0,
  reviews: 0,
  criteria: Object.entries(judged).map(([criterion, judgments]) => ({ criterion, judgments })),
});

test("agreement begins with the first criterion that has judgments", () => {
  const names = ["helpful", "harmless"];

  expect(firstJudged(names, counts({ helpful: 3, harmless: 9, "": 0 }))).toBe("helpful");
  expect(firstJudged(names, counts({ helpful: 0, harmless: 9, "": 4 }))).toBe("harmless");
  // Judgments from before the project had criteria.
  expect(firstJudged(names, counts({ helpful: 0, harmless: 0, "": 200 }))).toBe("");
  expect(firstJudged(names, counts({ helpful: 0, harmless: 0, "": 0 }))).toBeNull();
});
