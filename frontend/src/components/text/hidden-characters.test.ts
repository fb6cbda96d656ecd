import { expect, it } from "vitest";

import { revealed } from "./hidden-characters";

it("marks every character that no font is to show, with its code", () => {
  const unmarked: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    const character = String.fromCodePoint(code);
    if (!/\p{Default_Ignorable_Code_Point}/u.test(character)) continue;
    const [before, mark, after] = revealed(`a${character}b`);
    const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    if (before !== "a" || after !== "b" || typeof mark !== "object" || !mark.title.endsWith(number))
      unmarked.push(number);
  }
  expect(unmarked).toEqual([]);
});

it("names variation selectors by their numbers", () => {
  expect(revealed("\ufe00\ufe0f")).toEqual([
    { name: "VS1", title: "variation selector 1, U+FE00" },
    { name: "VS16", title: "variation selector 16, U+FE0F" },
  ]);
});

it("makes one mark of many of one kind, and a few each", () => {
  const [text, few, alsoFew, end] = revealed("a\u200b\u200bb");
  expect([text, few, alsoFew, end]).toEqual(["a", few, few, "b"]);
  expect(revealed(`a${"\u200b".repeat(199_999)}b`)).toEqual([
    "a",
    { name: "ZWSP × 199999", title: "zero-width space, U+200B, × 199999" },
    "b",
  ]);
});

it("names each of very many, but draws no more marks than a page can hold", () => {
  const parts = revealed("a\u200b".repeat(50_000));
  expect(parts.filter((part) => typeof part === "object")).toHaveLength(2000);
  const words = parts.map((part) => (typeof part === "string" ? part : part.name)).join("");
  expect(words.match(/ZWSP/g)).toHaveLength(50_000);
  expect(words.replace(/⟦|⟧|ZWSP/g, "")).toBe("a".repeat(50_000));
});
