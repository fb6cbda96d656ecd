import { expect, it } from "vitest";

import { bodyOf, ofSet, PROPOSED, together, wrongWith } from "./sets";

const knights = { ...PROPOSED, count: "4" };

it("asks for every level between the two that were chosen", () => {
  expect(bodyOf({ ...knights, first: 3, last: 5, seed: "7" })).toEqual({
    ...{ set: "knights", levels: [3, 4, 5], count: 4, seed: 7, split: "train" },
  });
});

it("begins another set with all of its levels", () => {
  const { set, first, last, count } = ofSet({ ...knights, first: 8 }, "lists");
  expect([set, first, last, count]).toEqual(["lists", 1, 5, "4"]);
});

it("says what cannot be asked for, and what can", () => {
  expect(wrongWith(knights)).toEqual({});
  for (const count of ["", "0", "-1", "1.5", "5001", "1e3"])
    expect(wrongWith({ ...knights, count }).count).toBe("Enter a whole number from 1 to 5,000.");
  expect(wrongWith({ ...knights, count: "2857" })).toEqual({});
  expect(wrongWith({ ...knights, count: "2858" }).count).toBe(
    "2,858 for each of 7 are 20,006 problems. At most 20,000 are made at once: enter 2,857 or less.",
  );
  expect(wrongWith({ ...knights, seed: "x" }).seed).toContain("from 0 to 9,007,199,254,740,991");
});

it("says how many problems that are together", () => {
  expect(together(knights)).toBe("7 levels × 4 = 28 problems");
  expect(together({ ...knights, first: 8, count: "1" })).toBe("1 level × 1 = 1 problem");
});
