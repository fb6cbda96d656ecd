import { describe, expect, it } from "vitest";

import { choicesOf, firstWithAny, judgmentsTaken, recordsTaken } from "./taken";

const mixed = {
  judgments: 47,
  reviews: 2,
  criteria: [
    { criterion: "harmless", judgments: 0 },
    { criterion: "helpful", judgments: 6 },
    { criterion: "", judgments: 41 },
  ],
};
const plain = { judgments: 5, reviews: 0, criteria: [{ criterion: "", judgments: 5 }] };

describe("what a snapshot of preferences takes", () => {
  it("is told of how many, and what is left out", () => {
    expect(judgmentsTaken(mixed, "helpful")).toBe(
      "The snapshot takes 6 of 47 judgments: those given under “helpful”. 2 more are kept for review and left out.",
    );
    expect(judgmentsTaken({ ...mixed, reviews: 1 }, "")).toBe(
      "The snapshot takes 41 of 47 judgments: those given without criteria. 1 more is kept for review and left out.",
    );
    expect(judgmentsTaken(plain, "")).toBe("The snapshot takes all 5 judgments.");
    expect(judgmentsTaken({ ...plain, judgments: 0, reviews: 3 }, "")).toBe(
      "There is no judgment that counts yet. 3 are kept for review and left out.",
    );
  });
  it("is chosen among criteria where there are any", () => {
    expect(choicesOf(mixed)).toHaveLength(3);
    expect(choicesOf(plain)).toEqual([]);
    expect(firstWithAny(mixed)).toBe("helpful");
    expect(firstWithAny({ judgments: 0, reviews: 0, criteria: mixed.criteria.slice(0, 1) })).toBe(
      "harmless",
    );
  });
});

describe("what a snapshot of other records takes", () => {
  it("is every one", () => {
    expect(recordsTaken("solutions", null)).toBe(
      "The snapshot takes every solution of the project.",
    );
  });
});
