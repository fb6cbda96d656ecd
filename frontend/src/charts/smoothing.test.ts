import { expect, it } from "vitest";

import { smooth } from "./smoothing";

it("leaves a constant curve as it is from the first point on", () => {
  for (const value of smooth([3, 3, 3, 3], 0.9)) expect(value).toBeCloseTo(3, 12);
});
it("is the worked example: factor 0.5 over 0, 3 gives 0 and 2", () => {
  expect(smooth([0, 3], 0.5)).toEqual([0, 2]);
});
it("keeps gaps as gaps", () => {
  expect(smooth([1, null, 1], 0.5)).toEqual([1, null, 1]);
});
it("with factor 0 is the raw curve", () => {
  expect(smooth([1, 5, -2], 0)).toEqual([1, 5, -2]);
});
