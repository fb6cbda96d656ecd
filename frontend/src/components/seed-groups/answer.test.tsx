// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { SeedGroup, SeedGroups } from "@/api/types";

import { Answer } from "./answer";

const group = (apart: string | null): SeedGroup => ({
  name: "grpo",
  runs: ["run_a"],
  config: {},
  left_out: [],
  values: [{ run: "run_a", value: 1, step: 8, state: "succeeded" }],
  value: 1,
  interval: null,
  is_iqm: false,
  apart,
  why_open: "",
});

const answer = (
  aparts: readonly (string | null)[],
  more: Partial<SeedGroups> = {},
): SeedGroups => ({
  metric: "eval/reward",
  title: "Held-out reward",
  evaluated_on: null,
  has_chosen: false,
  is_unchecked: false,
  has_outputs: true,
  evaluation_sets: [],
  attached: null,
  n_evaluations: 0,
  why_none: "",
  measured_apart: { "eval/reward": "reward" },
  is_lower_better: false,
  records: {},
  groups: aparts.map(group),
  differences: [],
  n_comparisons: 1,
  doubt: "",
  doubted: [],
  ...more,
});

const text = (of: SeedGroups): string => {
  const shown = document.createElement("div");
  shown.innerHTML = renderToStaticMarkup(<Answer answer={of} onSet={() => undefined} />);
  return shown.textContent;
};

test("groups that are left out are named with what makes them another measure", () => {
  const difference = {
    better: 1,
    worse: 3,
    value: 0.2,
    interval: { low: 0.1, high: 0.3 },
    is_iqm: false,
    is_decided: true,
    more_seeds: 0,
    sentence: "The difference is 0.2 [0.1, 0.3]: more than chance.",
  };
  const said = text(
    answer(["reward", null, "prompts", null, "reward"], { differences: [difference] }),
  );

  expect(said).toContain("B (grpo) is better than D (grpo) by held-out reward.");
  expect(said).toContain("A, E. Not compared, because reward differs and makes held-out reward");
  expect(said).toContain("C. Not compared, because prompts differs and makes held-out reward");
});

test("groups that are not told apart are not called ahead", () => {
  const open = {
    ...{ better: 1, worse: 0, value: 0.007, is_iqm: false, is_decided: false, more_seeds: 315 },
    interval: { low: -0.1, high: 0.12 },
    sentence: "The difference is 0.007 [−0.1, 0.12]: it may be chance.",
  };
  const said = (one: SeedGroups["differences"][number]) =>
    text(answer([null, null], { differences: [one] }));
  expect(said(open)).toContain(
    "Not decided by held-out reward: B (grpo) and A (grpo) cannot be told apart.",
  );
  expect(said({ ...open, interval: null })).toContain(
    "Not decided by held-out reward: B and A have fewer than three seeds.",
  );
});

test("where no two measure the same, nothing is said to be better", () => {
  expect(text(answer([null, "reward"]))).toContain(
    "No two groups measure the same held-out reward.",
  );
});

test("evaluations that decide are named with their set", () => {
  const difference = {
    better: 1,
    worse: 0,
    value: 0.2,
    interval: { low: 0.1, high: 0.3 },
    is_iqm: false,
    is_decided: true,
    more_seeds: null,
    sentence: "The difference is 0.2 [0.1, 0.3]: more than chance.",
  };

  const said = (has_chosen: boolean, is_unchecked = false) =>
    text(
      answer([null, null], {
        title: "pass@1",
        evaluated_on: "unseen",
        has_chosen,
        is_unchecked,
        evaluation_sets: ["unseen"],
        differences: [difference],
      }),
    );
  const shown = said(false);

  expect(shown).toContain("B (grpo) is better than A (grpo) by pass@1 on unseen.");
  expect(shown).toContain("Measured by evaluations of the runs' output models, all sampled");
  expect(shown).not.toContain("may look better");
  expect(said(true)).toContain(
    "judged alike. At least one run chose its output on these prompts, so its value may look better",
  );
  expect(shown).not.toContain("not checked");
  expect(said(false, true)).toContain("was trained on some of these prompts was not checked");
});

test("what the runs measured themselves is said to be of their newest evaluations", () => {
  const newest =
    "Compared by the newest evaluation of each run, which need not be of the output it kept.";
  const said = (more: Partial<SeedGroups>) =>
    text(answer([null, null], { differences: [decided], ...more }));

  expect(said({})).toContain(newest);
  expect(said({ metric: "gold/reward" })).toContain("Compared by the newest value of each run,");
  expect(said({ evaluated_on: "unseen" })).not.toContain("Compared by the newest");
  expect(said({ differences: [] })).not.toContain("Compared by the newest");
  // Runs that evaluate have measured once, and keep nothing.
  expect(said({ has_outputs: false })).not.toContain("Compared by the newest");
});

test("of several measures the one that decides is chosen, and the attached one can be taken back", () => {
  const choice = (more: Partial<SeedGroups>) => {
    const page = document.createElement("div");
    page.innerHTML = renderToStaticMarkup(
      <Answer answer={answer([null, null], more)} onSet={() => undefined} />,
    );
    const select = page.querySelector("select");
    return select && [select.value, ...[...select.options].map((one) => one.text)];
  };
  const sets = ["ood", "unseen"];

  expect(choice({ evaluated_on: "ood", evaluation_sets: sets })).toEqual([
    "ood",
    "evaluations on ood",
    "evaluations on unseen",
  ]);
  const gold = { attached: "Gold reward", evaluation_sets: ["ood"] };
  const both = ["Gold reward, attached to the runs", "evaluations on ood"];
  expect(choice(gold)).toEqual(["", ...both]);
  expect(choice({ ...gold, evaluated_on: "ood" })).toEqual(["ood", ...both]);
  expect(choice({ evaluated_on: "ood", evaluation_sets: ["ood"] })).toBeNull();
  expect(choice({ attached: "Gold reward" })).toBeNull();
});

const decided = {
  ...{ better: 1, worse: 0, value: 0.2, is_iqm: false, is_decided: true, more_seeds: 0 },
  interval: { low: 0.1, high: 0.3 },
  sentence: "The difference of means is 0.2 [0.1, 0.3]: more than chance.",
};

test("a reward model that judges what it has trained decides nothing in green", () => {
  const colours = (doubt: string) => {
    const page = document.createElement("div");
    const doubted = doubt === "" ? [] : [0, 1];
    const said = answer([null, null], { differences: [decided], doubt, doubted });
    page.innerHTML = renderToStaticMarkup(<Answer answer={said} onSet={() => undefined} />);
    return [page.querySelector("section")?.className.trim(), page.textContent] as const;
  };

  expect(colours("")[0]).toBe("card answer good");
  const [colour, said] = colours("The reward model that trains the policy also judges it here.");
  expect(colour).toBe("card answer");
  expect(said).toContain("B (grpo) is better than A (grpo) by held-out reward.");
  expect(said).toContain("A, B. The reward model that trains the policy also judges it here");
});

test("groups that have not come to one end are named with the reason", () => {
  const why = "1 of 3 seeds has not succeeded (1 running)";
  const said = (n: number, more: Partial<SeedGroups> = {}) => {
    const groups = [null, null, null].slice(0, n).map(group);
    const last = { ...group(null), why_open: why };
    const differences = n > 1 ? [decided] : [];
    return text(answer([], { groups: [...groups, last], differences, ...more }));
  };

  expect(said(2)).toContain("B (grpo) is better than A (grpo) by held-out reward.");
  expect(said(2)).toContain(`C. Not compared yet: ${why}. A group is compared once all its seeds`);
  expect(said(1)).toContain(
    "Not decided by held-out reward: fewer than two groups can be compared",
  );
  // What evaluations found of models is of no step.
  expect(said(2)).toContain("and have a value at the same step as the other groups");
  expect(said(2, { evaluated_on: "unseen" })).toContain(
    `C. Not compared yet: ${why}. A group is compared once all its seeds have succeeded and their ` +
      "output models were evaluated like those of the others. Leave out runs that will never succeed.",
  );
});

test("where runs have no value yet, it is said of how many", () => {
  const measured = { ...group(null), runs: ["run_a", "run_b"] };
  const repeated = {
    ...group(null),
    ...{ runs: ["run_c", "run_d"], values: [] },
    left_out: [{ run: "run_c", counts: "run_d", why: "it repeats seed 1" }],
  };
  const groups = [measured, { ...repeated, why_open: "the only seed has not succeeded" }];

  expect(text(answer([], { groups }))).toContain(
    "Not decided yet: 2 of 3 runs have no held-out reward.",
  );
});

test("a group of enough seeds is not said to have too few", () => {
  const undecided = {
    ...{ better: 0, value: 0.2, interval: null, is_iqm: false, is_decided: false },
    ...{ more_seeds: null, sentence: "" },
  };
  const value = { run: "run_a", value: 1, step: 8, state: "succeeded" as const };
  const groups = [3, 1, 2, 0, 0, 1, 2, 2].map((n) => ({
    ...group(null),
    values: Array.from({ length: n }, () => value),
  }));
  const said = (places: readonly number[]) =>
    text(answer([], { groups, differences: places.map((worse) => ({ ...undecided, worse })) }));

  expect(said([1, 2])).toContain("B and C have fewer than three seeds.");
  expect(said([1])).toContain("B has fewer than three seeds.");

  const chance = "Fewer than three seeds cannot tell a difference from chance:";
  expect(said([1, 2])).toContain(`A and B, C. ${chance} B needs 2 more seeds, C 1.`);
  expect(said([2])).toContain(`A and C. ${chance} C needs 1 more seed.`);
  const many = said([1, 2, 3, 4, 5, 6, 7]);
  expect(many).toContain(`${chance} 7 groups need 13 more seeds in all.`);
});
