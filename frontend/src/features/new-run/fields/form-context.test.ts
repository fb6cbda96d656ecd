import { expect, test } from "vitest";

import type { ConfigProblem } from "@/api/types";

import { leavesRefusalOpen } from "./form-context";

const problem = (level: ConfigProblem["level"], message: string): ConfigProblem => ({
  path: "kl.coef",
  level,
  message,
  advice: null,
});

test("a warning does not explain why a start was refused, an error does", () => {
  expect(leavesRefusalOpen([])).toBe(true);
  expect(leavesRefusalOpen([problem("warning", "kl.coef is 0")])).toBe(true);
  expect(leavesRefusalOpen([problem("error", "kl.coef is missing")])).toBe(true);
  expect(leavesRefusalOpen([problem("error", "kl.coef is 40")])).toBe(false);
});
