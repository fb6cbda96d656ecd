import { describe, expect, it } from "vitest";

import { joined } from "@/api/measured/prompt-scores";
import type { PromptCurve } from "@/api/types";

import {
  barOf,
  csvRows,
  firstMeasure,
  learned,
  ruleOf,
  saturatedAt,
  saturatedText,
} from "./saturation";

const prompt = (
  id: string,
  passed: readonly (number | null)[],
  score: readonly (number | null)[] = passed,
): PromptCurve => ({
  prompt_id: id,
  text: `text of ${id}`,
  x: passed.map((_, place) => 10 * (place + 1)),
  score: [...score],
  passed: [...passed],
  responses: passed.map(() => 8),
});

describe("a prompt is saturated", () => {
  it("from the step on at which nearly all of its responses stay right", () => {
    expect(saturatedAt([1, 2, 3, 4], [0.5, 0.9, 1, 0.95], 0.9)).toBe(2);
    expect(saturatedAt([1, 2, 3, 4], [1, 1, 0.5, 1], 0.9)).toBeNull();
    expect(saturatedAt([1, 2, 3, 4], [1, 0.5, 1, 1], 0.9)).toBe(3);
    expect(saturatedAt([1, 2], [1, null], 0.9)).toBeNull();
    expect(saturatedAt([1, 2, 3], [1, null, 1], 0.9)).toBe(1);
    expect(saturatedAt([], [], 0.9)).toBeNull();
  });
  it("by its score nine tenths of the way to the best of all", () => {
    const prompts = [prompt("a", [null], [-1]), prompt("b", [null], [3])];
    expect(barOf(prompts, "score")).toBeCloseTo(2.6);
    expect(barOf([], "score")).toBe(Infinity);
  });
});

describe("how many prompts are saturated", () => {
  const told = (...prompts: ReturnType<typeof prompt>[]) =>
    saturatedText(learned(prompts, "passed"), 1);

  it("is told of those that could be", () => {
    const twice = [prompt("a", [1, 1]), prompt("b", [0.5, 1])];
    expect(told(...twice)).toBe("1 of 2 prompts saturated");
    expect(told(...twice, prompt("c", [1, null]))).toBe(
      "1 of 2 prompts that were sampled twice or more saturated",
    );
  });
  it("is no number where each was sampled once", () => {
    expect(told(prompt("a", [1]), prompt("b", [null, 1]))).toBe(
      "No prompt was sampled twice, so none can be saturated",
    );
    expect(saturatedText(learned([prompt("a", [1])], "passed"), 16)).toBe(
      "No prompt was sampled in two columns, so none can be saturated",
    );
  });
});

describe("what saturated means", () => {
  it("is told by the times a prompt was sampled while each step has a column", () => {
    expect(ruleOf("passed", 1)).toBe(
      "Saturated: from some step on, at least 90 % of the prompt's responses passed each time it was sampled, and it was sampled at least twice.",
    );
  });
  it("is told by columns where one pools several steps, and by the scores that are shown", () => {
    expect(ruleOf("passed", 4)).toBe(
      "Saturated: from some step on, at least 90 % of the prompt's responses passed in each column in which it was sampled, and there were at least two of these.",
    );
    expect(ruleOf("score", 4)).toBe(
      "Saturated: from some step on, the prompt's mean score was in the top tenth of the range of the scores shown here in each column in which it was sampled, and there were at least two of these.",
    );
  });
});

describe("the prompts of a run", () => {
  const prompts = [
    prompt("never", [0, 0.1]),
    prompt("late", [0, 1, 1]),
    prompt("nearly", [0, 0.8]),
    prompt("early", [1, 1]),
  ];

  it("come in the order in which they saturate, the best of the others next", () => {
    expect(learned(prompts, "passed").map((one) => one.prompt.prompt_id)).toEqual([
      "early",
      "late",
      "nearly",
      "never",
    ]);
  });
  it("are told by what passed where that is judged", () => {
    expect(firstMeasure(prompts)).toBe("passed");
    expect(firstMeasure([prompt("a", [null], [1])])).toBe("score");
  });
  it("are CSV with a line for each column", () => {
    expect(csvRows([prompt("a", [null], [0.5])])).toEqual([
      ["prompt_id", "prompt", "step", "score", "passed", "responses"],
      ["a", "text of a", 10, 0.5, "", 8],
    ]);
  });
  it("are joined from several parts of a long run", () => {
    const part = (items: PromptCurve[], next: number | null) => ({
      split: "train" as const,
      n_prompts: 2,
      first_step: 1,
      last_step: 20,
      width: 1,
      next_step: next,
      next_cursor: null,
      items,
    });
    const both = joined(
      part([prompt("a", [0])], 11),
      part([{ ...prompt("a", [1]), x: [20] }, prompt("b", [1])], null),
    );
    expect(both.items.map((one) => [one.prompt_id, one.x, one.passed])).toEqual([
      ["a", [10, 20], [0, 1]],
      ["b", [10], [1]],
    ]);
    expect(both.next_step).toBeNull();
  });
});
