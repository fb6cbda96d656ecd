import { expect, test } from "vitest";

import { trainedOn } from "./trained-on";

test("a set is marked as trained on, in whole or in part, or not at all", () => {
  const unseen = { is_trained: false, is_partly: false };
  expect(trainedOn([unseen])).toBe("");
  expect(trainedOn([unseen, { is_trained: true, is_partly: false }])).toBe(" (trained on)");
  expect(trainedOn([{ is_trained: true, is_partly: true }])).toBe(" (partly trained on)");
});
