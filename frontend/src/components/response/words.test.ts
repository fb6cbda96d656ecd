import { describe, expect, it } from "vitest";

import { differences } from "./words";

const sides = (before: string, after: string) => {
  const parts = differences(before, after) ?? [];
  const of = (kind: string) =>
    parts
      .filter((part) => part.kind === "same" || part.kind === kind)
      .map(({ text }) => text)
      .join("");
  return [of("gone"), of("new")];
};

describe("differences", () => {
  it("name the words that came and went", () => {
    expect(differences("Use cold water.", "Use warm water first.")).toEqual([
      { text: "Use ", kind: "same" },
      { text: "cold", kind: "gone" },
      { text: "warm", kind: "new" },
      { text: " water", kind: "same" },
      { text: " first", kind: "new" },
      { text: ".", kind: "same" },
    ]);
  });

  it("are one where words changed one after the other", () => {
    expect(differences("Wool is hard to clean.", "Then dab it clean.")).toEqual([
      { text: "Wool is hard to ", kind: "gone" },
      { text: "Then dab it ", kind: "new" },
      { text: "clean.", kind: "same" },
    ]);
  });

  it.each([
    ["", "new text"],
    ["gone text", ""],
    ["two  spaces\n\nand lines", "two spaces\nand  lines"],
    ["用冷水洗咖啡渍。", "用温水洗咖啡渍。"],
    ["a".repeat(50), "b".repeat(50)],
  ])("hold both texts, character by character: %j", (before, after) => {
    expect(sides(before, after)).toEqual([before, after]);
  });

  it("finds parts of a language without spaces", () => {
    expect(differences("用冷水洗咖啡渍。", "用温水洗咖啡渍。")?.[0]).toEqual({
      text: "用",
      kind: "same",
    });
  });

  it("gives up on texts that share almost nothing", () => {
    const words = (first: number) =>
      Array.from({ length: 3000 }, (_, i) => String(first + i)).join(" ");
    expect(differences(words(0), words(100_000))).toBeNull();
  });
});
