// @vitest-environment jsdom
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { SeedGroup, SeedGroups } from "@/api/types";

import { Answer } from "./answer";

const group = (apart: string | null): SeedGroup => ({
  name: "grpo",
  runs: ["run_a"],
  config: {},
  values: [],
  value: 1,
  interval: null,
  is_iqm: false,
  apart,
});

const answer = (
  aparts: readonly (string | null)[],
  more: Partial<SeedGroups> = {},
): SeedGroups => ({
  metric: "eval/reward",
  title: "Held-out reward",
  why_none: "",
  measured_apart: "reward",
  is_lower_better: false,
  groups: aparts.map(group),
  differences: [],
  ...more,
});

const text = (of: SeedGroups): string => {
  const shown = document.createElement("div");
  shown.innerHTML = renderToStaticMarkup(<Answer answer={of} />);
  return shown.textContent;
};

test("groups that are left out are named with what makes them another measure", () => {
  const difference = {
    better: 1,
    worse: 3,
    value: 0.2,
    interval: { low: 0.1, high: 0.3 },
    is_decided: true,
    more_seeds: 0,
    sentence: "The difference is 0.2 [0.1, 0.3]: more than chance.",
  };
  const said = text(
    answer(["reward", null, "prompts", null, "reward"], { differences: [difference] }),
  );

  expect(said).toContain("B is better than D by held-out reward.");
  expect(said).toContain("A, E. Not compared, because another reward makes held-out reward");
  expect(said).toContain("C. Not compared, because another prompts makes held-out reward");
});

test("where no two measure the same, nothing is said to be better", () => {
  expect(text(answer([null, "reward"]))).toContain(
    "No two groups measure the same held-out reward.",
  );
});
