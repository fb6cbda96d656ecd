import { describe, expect, it } from "vitest";

import { keptText, ruleOf } from "./kept-answers";

const COUNT = { answers: 60, prompts: 48, of_answers: 320, of_prompts: 80, is_judged: true };

describe("the answers that become demonstrations", () => {
  it("are counted before they are frozen", () => {
    expect(keptText(COUNT, true)).toBe(
      "These rules keep 60 of 320 answers to 80 prompts, to 48 of the prompts.",
    );
    expect(keptText({ ...COUNT, answers: 0, prompts: 0 }, true)).toBe(
      "These rules keep none of 320 answers to 80 prompts.",
    );
  });
  it("are not told by the count of another rule", () => {
    expect([keptText(COUNT, false), keptText(undefined, true), keptText(null, true)]).toEqual([
      "Counting the answers…",
      "Counting the answers…",
      "",
    ]);
  });
  it("are asked for by the rules that are given", () => {
    expect(ruleOf({ best: 1, min_score: null, passed: true, term: null })).toBe(
      "best=1&passed=true",
    );
    expect(ruleOf({ best: null, min_score: -0.5, passed: false, term: "math_2" })).toBe(
      "min_score=-0.5&passed=false&term=math_2",
    );
  });
});
