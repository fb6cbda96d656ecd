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
  ["Use <think>x</think> tags.", null, "Use <think>x</think> tags."],
  ["`<think>` opens and </think> closes", null, "`<think>` opens and </think> closes"],
  ["```\n<think>x</think>\n```", null, "```\n<think>x</think>\n```"],
  ["```\nx</think>\n```", null, "```\nx</think>\n```"],
  ["```\ncode\n```\nso\n</think>\n42", "```\ncode\n```\nso", "42"],
  ["<think>I write <think> here</think>42", "I write <think> here", "42"],
  ["<think>```\ncut</think>42", "```\ncut", "42"],
  ["\n <THINK>so</THINK> 42", "so", "42"],
  ["<think>the tag `</think>` ends it</think>42", "the tag `</think>` ends it", "42"],
  [" 42 ", null, " 42 "],
])("%j", (text, thinking, answer) => {
  expect(splitThinking(text)).toEqual({ thinking, answer });
});

it.each([
  ["spaces", " ".repeat(1_000_000)],
  ["opening tags", "<think>".repeat(150_000)],
  ["tags as code", "`</think>".repeat(110_000)],
  ["fences", "```\n".repeat(250_000)],
])("reads a megabyte of %s at once", (_, text) => {
  const times = [1, 2, 3].map(() => {
    const begun = performance.now();
    splitThinking(`${text}x`);
    return performance.now() - begun;
  });
  // Other tests share the processor.
  expect(Math.min(...times)).toBeLessThan(1000);
});
