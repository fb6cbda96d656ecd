import { expect, test } from "vitest";

import { smoothingOf } from "@/charts/smoothing";

import { countText, figuresOf, withoutRun, withRun } from "./view";

const titles = (known: readonly string[]) => figuresOf(known).map((figure) => figure.title);

test("a figure is offered where all its metrics are known", () => {
  expect(titles(["loss", "kl/response", "length/mean", "reward/mean"])).toEqual([
    "Reward and KL",
    "Reward and length",
  ]);
  expect(titles(["reward/mean", "length/mean"])).toEqual(["Reward and length"]);
  expect(titles(["kl/response", "length/mean"])).toEqual([]);
});

test("a figure draws the reward first, then what it costs", () => {
  expect(figuresOf(["reward/mean", "length/mean"])[0]?.names).toEqual([
    "reward/mean",
    "length/mean",
  ]);
});

test("a run that is left out is neither hidden nor shown beside others any more", () => {
  const now = new URLSearchParams("runs=a,b,c&hide=b&columns=a,b&by=loss");

  expect(withoutRun(now, "b")).toEqual({ runs: ["a", "c"], hide: [], columns: ["a"] });
  expect(withRun(now, "d")).toEqual({ runs: ["a", "b", "c", "d"] });
  expect(withRun(now, "a")).toEqual({ runs: ["a", "b", "c"] });
});

test("runs of the address that are not compared are counted", () => {
  expect(countText(0)).toBe("No runs are chosen.");
  expect(countText(100)).toBe("100 runs");
  expect(countText(140)).toBe("The first 100 of 140 runs: more cannot be compared at once.");
});

test("curves are smoothed as on the page of a run, and as the address says", () => {
  expect([null, "0", "0.9", "1", "-1", "much"].map(smoothingOf)).toEqual([
    0.6, 0, 0.9, 0.6, 0.6, 0.6,
  ]);
});
