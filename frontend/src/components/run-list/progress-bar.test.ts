import { expect, it } from "vitest";

import type { Run } from "@/api/types";

import { percentOf } from "./progress-bar";

const run = (state: Run["state"], step: number, steps: number) =>
  ({ state, progress: { step, steps } }) as Run;

it.each([
  ["running", 30, 120, 25],
  ["queued", 0, 0, 0],
  ["failed", 130, 120, 100],
  // It may end before its last step, and is done.
  ["succeeded", 30, 120, 100],
] as const)("fills the bar of a run: %s at %i of %i", (state, step, steps, percent) => {
  expect(percentOf(run(state, step, steps))).toBe(percent);
});
