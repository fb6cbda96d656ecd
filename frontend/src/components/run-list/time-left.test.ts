import { expect, test } from "vitest";

import { timeLeft } from "./time-left";

test("the time left is that of the steps, and nothing once the last one is done", () => {
  const progress = { step: 3, steps: 10, phase: "train", eta_s: 75 };

  expect(timeLeft(progress)).toBe("1 min 15 s left");
  expect(timeLeft({ ...progress, eta_s: null })).toBeNull();
  expect(timeLeft({ ...progress, step: 10, phase: "evaluate", eta_s: 0 })).toBeNull();
});
