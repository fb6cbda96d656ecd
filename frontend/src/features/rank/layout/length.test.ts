import { describe, expect, it } from "vitest";

import { lengthOf } from "./length";

const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");

describe("the length of responses", () => {
  it.each([
    ["nothing", [""], "few words"],
    ["8 words", [words(8)], "few words"],
    ["9 words", ["yes", words(9)], "short"],
    ["two lines", ["yes\nno"], "short"],
    ["60 words", [words(60)], "short"],
    ["61 words", [words(61)], "medium"],
    ["300 words", [words(300)], "medium"],
    ["301 words", [words(301)], "long"],
    ["the longest of all", ["yes", words(301), "no"], "long"],
    ["8 Chinese characters as a word", ["字".repeat(8 * 60)], "short"],
    ["more of them", ["字".repeat(8 * 300 + 8)], "long"],
    ["50 lines of code", ["}\n".repeat(50)], "medium"],
    ["51 lines of code", ["}\n".repeat(51)], "long"],
    ["no line that is empty", ["}\n\n\n".repeat(10)], "short"],
    ["no reasoning, for it is folded", [`<think>${words(400)}</think>${words(40)}`], "short"],
  ])("counts %s", (_, responses, length) => {
    expect(lengthOf(responses)).toBe(length);
  });
});
