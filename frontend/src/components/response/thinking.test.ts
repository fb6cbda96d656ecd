import { expect, it } from "vitest";

import { splitThinking } from "./thinking";

it.each([
  ["<think>so</think>\n42", "so", "42"],
  ["<thinking>so</thinking>42", "so", "42"],
  ["so, hence\n</think>\n42", "so, hence", "42"],
  ["<think>never closed", "never closed", ""],
  ["<think></think>42", "", "42"],
  ["<think>a</think>b</think>c", "a", "b</think>c"],
  ["42", null, "42"],
  ["the tag `</think>` ends it", null, "the tag `</think>` ends it"],
  ["a <think> in the middle", null, "a <think> in the middle"],
])("%j", (text, thinking, answer) => {
  expect(splitThinking(text)).toEqual({ thinking, answer });
});
