import { describe as group, expect, it } from "vitest";

import { expectedCards, orderOf } from "./orders";

group("a ranking in letters", () => {
  it("has ties in the order of the letters", () => {
    expect(orderOf([[1], [3, 0], [2]])).toBe("B > A = D > C");
  });
  it("gives the cards best first, those that are not placed last", () => {
    const expected = { tiers: [["r2"], ["r0", "r3"]], unranked: ["r1"] };
    expect(expectedCards(expected, ["r0", "r1", "r2", "r3"])).toEqual([
      { card: 2, rank: 1 },
      { card: 0, rank: 2 },
      { card: 3, rank: 2 },
      { card: 1, rank: null },
    ]);
  });
});
