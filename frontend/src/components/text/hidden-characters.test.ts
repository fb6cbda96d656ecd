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
