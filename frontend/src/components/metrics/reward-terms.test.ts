import { expect, it } from "vitest";

import { termNames } from "./reward-terms";

it("terms are named as in the scores of a run, whatever samples them", () => {
  const terms = [{ kind: "math" }, { kind: "length" }, { kind: "math" }];

  expect(termNames({ reward: terms })).toEqual(["math", "length", "math_2"]);
  expect(termNames({ reward: { terms } })).toEqual(["math", "length", "math_2"]);
  const named = [{ kind: "math", name: "sum" }, { kind: "math" }, { kind: "math", name: null }];
  expect(termNames({ reward: { terms: named } })).toEqual(["sum", "math", "math_2"]);
  expect(termNames({ reward: null })).toEqual([]);
  expect(termNames({})).toEqual([]);
});
