import { expect, test } from "vitest";

import { figuresOf } from "./view";

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
