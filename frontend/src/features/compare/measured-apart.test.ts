import { expect, test } from "vitest";

import type { SeedGroups } from "@/api/types";

import { isMeasuredApart } from "./measured-apart";

const answer = (section: string | null): SeedGroups => ({
  metric: null,
  title: "",
  evaluated_on: null,
  evaluation_sets: [],
  n_evaluations: 0,
  why_none: "",
  measured_apart: section,
  is_lower_better: false,
  groups: [],
  differences: [],
});

test("only what a run measures itself depends on its config", () => {
  const apart = answer("reward");
  expect(isMeasuredApart("eval/reward", apart)).toBe(true);
  expect(isMeasuredApart("reward/mean", apart)).toBe(true);
  expect(isMeasuredApart("gold/reward", apart)).toBe(false);
  expect(isMeasuredApart("kl/exact", apart)).toBe(false);
  expect(isMeasuredApart("eval/reward", answer(null))).toBe(false);
});
