import { expect, test } from "vitest";

import { spaced } from "./spaced";

test("tokens of words have the blanks of their response", () => {
  const response = "a=knight b=knave  no";
  const found = spaced(["a=knight", "b=knave", "no", "</s>"], response);
  expect(found).toEqual(["a=knight", " b=knave", "  no", "</s>"]);
});

test("tokens that have their blanks themselves stay as they are", () => {
  const tokens = ["The", " bones", " in", "\n", "the", " ", "hand", "."];
  expect(spaced(tokens, tokens.join(""))).toEqual(tokens);
});

test("what the response does not have is told as it is", () => {
  expect(spaced(["a", "\u{fffd}", "b"], "a é b")).toEqual(["a", "\u{fffd}", "b"]);
  expect(spaced([], "a")).toEqual([]);
});
