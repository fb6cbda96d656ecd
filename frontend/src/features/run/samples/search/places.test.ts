import { expect, it } from "vitest";

import { partsOf, placesOf } from "./places";

/** The texts with what is found in brackets. */
const marked = (texts: readonly string[], q: string) =>
  partsOf(texts, placesOf(texts.join(""), q)).map((parts) =>
    parts.map(({ text, isFound }) => (isFound ? `[${text}]` : text)).join(""),
  );

it("finds a text in capitals or not, and its signs as they are", () => {
  expect(marked(["The answer is THE end."], "the")).toEqual(["[The] answer is [THE] end."]);
  expect(marked(["1.5 (1+2)? 125"], "(1+2)?")).toEqual(["1.5 [(1+2)?] 125"]);
  expect(marked(["1.5 and 1-5"], "1.5")).toEqual(["[1.5] and 1-5"]);
  expect(marked(["STRASSE ÜBER 😀"], "über 😀")).toEqual(["STRASSE [ÜBER 😀]"]);
});

it("finds what several tokens say together", () => {
  expect(marked(["re", "war", "d re", "ward", "", "s"], "reward")).toEqual([
    ...["[re]", "[war]", "[d] [re]", "[ward]", "", "s"],
  ]);
});

it("finds nothing where nothing is searched for", () => {
  expect(marked(["a", "b"], "")).toEqual(["a", "b"]);
  expect(marked(["a", "b"], "c")).toEqual(["a", "b"]);
});
