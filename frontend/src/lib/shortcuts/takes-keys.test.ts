import { expect, test } from "vitest";

import { takesKeys } from "./takes-keys";

const input = (type: string) => ({ tagName: "INPUT", type, isContentEditable: false });

test("a check box that was clicked leaves the page its keys, a field does not", () => {
  expect(["checkbox", "button", "file"].map((type) => takesKeys(input(type)))).toEqual([
    false,
    false,
    false,
  ]);
  // Arrows move among radio buttons and along a range.
  expect(
    ["text", "search", "number", "radio", "range"].every((type) => takesKeys(input(type))),
  ).toBe(true);
  expect(takesKeys({ tagName: "SELECT", isContentEditable: false })).toBe(true);
  expect(takesKeys({ tagName: "BODY", isContentEditable: false })).toBe(false);
});
