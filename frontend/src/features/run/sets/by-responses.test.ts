import { expect, test } from "vitest";

import { csvRows, linesByK, setsByK, tokensAt, unitByK } from "./by-responses";

const set = (label: string, values: Readonly<Record<string, number>>) => ({
  name: label,
  label,
  snapshot_id: "s",
  split: "all",
  n_prompts: 10,
  samples_per_prompt: 16,
  sampling: "",
  passes_by_learned_score: false,
  ...{ is_trained: false, is_partly: false, has_chosen: false, is_unchecked: false },
  measures: Object.entries(values).map(([measure, value]) => ({
    measure,
    metric: `eval/${measure}`,
    value,
    interval: measure === "bon@2" ? null : { low: value - 0.1, high: value + 0.1 },
  })),
  breakdowns: [],
});

test("measures at k are lines, k in the order of numbers", () => {
  const lines = linesByK(
    set("a", { "pass@16": 0.9, "pass@1": 0.5, "pass@2": 0.6, "bon@2": 0.55, length: 9 }),
  );
  expect(lines.map(({ name, points }) => [name, points.map(({ k }) => k)])).toEqual([
    ["pass@k", [1, 2, 16]],
    ["best of k", [2]],
  ]);
  expect(lines[0]?.points[0]).toEqual({ k: 1, value: 0.5, interval: { low: 0.4, high: 0.6 } });
  expect(lines[1]?.points[0]).toEqual({ k: 2, value: 0.55, interval: null });
});

test("a set with one response to each prompt has no lines", () => {
  const sets = [set("one", { "pass@1": 0.5 }), set("two", { "pass@1": 0.5, "pass@2": 0.6 })];
  expect(setsByK(sets).map(({ label }) => label)).toEqual(["two"]);
});

test("where nothing says what is correct, the reward of the best of k is a line from one on", () => {
  const measured = set("a", { reward: 1.5, "bon_reward@4": 2.5, "bon_reward@2": 2 });
  const [line, ...others] = linesByK(measured);
  expect([line?.name, line?.points.map(({ k, value }) => [k, value])]).toEqual([
    "reward of the best of k",
    [
      [1, 1.5],
      [2, 2],
      [4, 2.5],
    ],
  ]);
  expect([others, unitByK(measured)]).toEqual([[], "reward"]);
  const correct = set("a", { reward: 1, "pass@1": 0.5, "pass@2": 0.6, "bon_reward@2": 2 });
  expect(linesByK(correct).map(({ name }) => name)).toEqual(["pass@k"]);
  expect(unitByK(correct)).toBe("share of the prompts");
});

test("a threshold of what reward models give is not drawn where the reward of the best is", () => {
  const values = { reward: 0.4, "pass@1": 0.2, "pass@2": 0.3, "bon@2": 0.3, "bon_reward@2": 0.9 };
  const learned = { ...set("a", values), passes_by_learned_score: true };
  expect(linesByK(learned).map(({ name }) => name)).toEqual(["reward of the best of k"]);
  expect(unitByK(learned)).toBe("reward");
  const older = { ...set("a", { "pass@1": 0.2, "pass@2": 0.3 }), passes_by_learned_score: true };
  expect([linesByK(older)[0]?.name, unitByK(older)]).toEqual(["pass@k", "share of the prompts"]);
});

test("a set with one response to each prompt has no reward of the best", () => {
  expect(linesByK(set("one", { reward: 1.5, "pass@1": 0.5 }))).toEqual([]);
});

test("each measure has a line at each k in a file, with what it costs", () => {
  const measured = set("a", { "pass@1": 0.5, "pass@2": 0.6, "bon@2": 0.55, length: 10 });
  expect(csvRows(measured).map((row) => row.slice(0, 4))).toEqual([
    ["measure", "k", "tokens", "value"],
    ["pass@k", 1, 10, 0.5],
    ["pass@k", 2, 20, 0.6],
    ["best of k", 2, 20, 0.55],
  ]);
  // One of k has no interval.
  expect(csvRows(measured).at(-1)?.slice(4)).toEqual(["", ""]);
});

test("k responses cost k times the mean length", () => {
  expect([1, 16].map((k) => tokensAt(set("a", { "pass@1": 0.5, length: 44.5 }), k))).toEqual([
    44.5, 712,
  ]);
  expect(tokensAt(set("a", { "pass@1": 0.5 }), 4)).toBeNull();
});
