import { describe, expect, it, vi } from "vitest";

import { compareFirstWords, compareWords, type Part } from "./word-diff";

const textOf = (parts: readonly Part[], without: string) =>
  parts.flatMap(({ text, of }) => (of === without ? [] : [text])).join("");
const marked = (first: string, second: string) =>
  (compareWords(first, second) ?? []).flatMap(({ text, of }) => (of === "both" ? [] : [text]));
const numbers = (first: number, many: number) =>
  Array.from({ length: many }, (_, i) => String(first + i)).join(" ");

describe("compareWords", () => {
  it("names the words that came and went", () => {
    expect(compareWords("Use cold water.", "Use warm water first.")).toEqual([
      { text: "Use ", of: "both" },
      { text: "cold", of: "first" },
      { text: "warm", of: "second" },
      { text: " water", of: "both" },
      { text: " first", of: "second" },
      { text: ".", of: "both" },
    ]);
  });

  it("makes one change of words that changed one after the other", () => {
    expect(compareWords("Wool is hard to clean.", "Then dab it clean.")).toEqual([
      { text: "Wool is hard to ", of: "first" },
      { text: "Then dab it ", of: "second" },
      { text: "clean.", of: "both" },
    ]);
  });

  it.each([
    ["", "new text"],
    ["gone text", ""],
    ["two  spaces\n\nand lines", "two spaces\nand  lines"],
    ["用冷水洗咖啡渍。", "用温水洗咖啡渍。"],
    ["a".repeat(5000), "b".repeat(5000)],
    ["\n".repeat(50_000) + "a", "\n".repeat(50_000) + "b"],
    [" \n".repeat(50_000) + "a", " \n".repeat(50_000) + "b"],
  ])("holds both texts, character by character: %#", (first, second) => {
    const parts = compareWords(first, second) ?? [];
    expect([textOf(parts, "second"), textOf(parts, "first")]).toEqual([first, second]);
  });

  it.each([
    ["I don't know", "I can't know", ["don't", "can't"]],
    ["3.14 m", "3.15 m", ["3.14", "3.15"]],
    ["a cafe\u0301", "a cafe", ["cafe\u0301", "cafe"]],
    ["नमस्ते दुनिया", "नमस्कार दुनिया", ["नमस्ते", "नमस्कार"]],
    ["用冷水。洗咖啡渍", "用温水。洗咖啡渍", ["冷水", "温水"]],
  ])("takes words as a whole: %j, %j", (first, second, words) => {
    expect(marked(first, second)).toEqual(words);
  });

  it("gives up on texts that share almost nothing", () => {
    expect(compareWords(numbers(0, 3000), numbers(100_000, 3000))).toBeNull();
  });

  // A segmenter that gets such a text at once takes minutes.
  it("finds a change in the middle of half a million characters", () => {
    const [start, end] = ["word, ".repeat(40_000), " word".repeat(50_000)];
    expect(marked(`${start}cold${end}`, `${start}warm${end}`)).toEqual(["cold", "warm"]);
  });
});

describe("compareFirstWords", () => {
  // The window waits for it, and to cut a text into words takes as long as all the rest.
  it.each([
    [numbers(0, 3000), numbers(100_000, 3000)],
    ["cold water ".repeat(1000), "warm water ".repeat(1000)],
  ])("looks for words once in each text, and once in what a text repeats: %#", (first, second) => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    compareFirstWords(first, second);
    const runs = [first, second].map((text) => new Set(text.match(/ |[^ ]+/g)).size);
    expect(segment).toHaveBeenCalledTimes((runs[0] ?? 0) + (runs[1] ?? 0));
    segment.mockRestore();
  });

  it("compares all of long texts with few changes", () => {
    const long = numbers(0, 3000);
    const { parts, rests } = compareFirstWords(`${long} cold`, `${long} warm`);
    expect(parts.slice(1)).toEqual([
      { text: "cold", of: "first" },
      { text: "warm", of: "second" },
    ]);
    expect(rests).toEqual(["", ""]);
  });

  it("compares the beginnings of texts with too many changes, and hands back their rests", () => {
    const [first, second] = [`a ${numbers(0, 3000)}`, `a ${numbers(100_000, 3000)}`];
    const { parts, rests } = compareFirstWords(first, second);
    expect(parts[0]).toEqual({ text: "a ", of: "both" });
    expect(rests[0]).toMatch(/ 2999$/);
    expect(textOf(parts, "second") + rests[0]).toBe(first);
    expect(textOf(parts, "first") + rests[1]).toBe(second);
  });
});
