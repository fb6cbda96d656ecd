import { expect, test } from "vitest";

import { setMark } from "./set-mark";

const unseen = { is_trained: false, is_partly: false, has_chosen: false, is_unchecked: false };
const trained = { ...unseen, is_trained: true };

test("a set is marked as trained on, in whole or in part, or not at all", () => {
  expect(setMark([unseen])).toBe("");
  expect(setMark([unseen, trained])).toBe(" (trained on)");
  expect(setMark([{ ...trained, is_partly: true }])).toBe(" (partly trained on)");
});

test("a set that chose the checkpoints is marked, too", () => {
  expect(setMark([{ ...unseen, has_chosen: true }])).toBe(" (checkpoints chosen on it)");
});

test("a set of which nobody has counted the seen prompts is not shown as unseen", () => {
  const unchecked = { ...unseen, is_unchecked: true };
  expect(setMark([unseen, unchecked])).toBe(" (not checked for training prompts)");
  expect(setMark([unchecked, trained])).toBe(" (trained on)");
});
