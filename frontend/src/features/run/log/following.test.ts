import { expect, it } from "vitest";

import { followsAfter } from "./following";

const END = { top: 900, left: 0 };

it("follows until somebody scrolls up, and again from the end on", () => {
  expect(followsAfter(true, END, { top: 880, left: 20 })).toBe(false);
  expect(followsAfter(false, { top: 400, left: 500 }, { top: 600, left: 300 })).toBe(false);
  expect(followsAfter(false, { top: 600, left: 300 }, { top: 899.5, left: 0.5 })).toBe(true);
});

it("goes on where new lines came between a scroll and its event", () => {
  expect(followsAfter(true, END, { top: 900, left: 40 })).toBe(true);
  expect(followsAfter(true, END, { top: 920, left: 40 })).toBe(true);
  expect(followsAfter(true, null, { top: 0, left: 900 })).toBe(true);
});

it("stays as it is where fewer lines are found", () => {
  const few = { top: 0, left: 0 };
  expect(followsAfter(true, END, few)).toBe(true);
  expect(followsAfter(false, { top: 400, left: 500 }, few)).toBe(false);
});
