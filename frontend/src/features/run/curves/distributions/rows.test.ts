import { expect, it } from "vitest";

import { chosenOf, rowsOf } from "./rows";

const summary = (x: number) => ({ x, n: 2 * x, quantiles: [1, 2, 3, 4, 5, 6, 7] });
const many = Array.from({ length: 95 }, (_, i) => summary(i + 1));

it("a file has a head and a row for each column", () => {
  const spread = { name: "reward", x: [], bins: [], counts: [] };
  expect(rowsOf(spread, [summary(4)], "tokens")).toEqual([
    [
      ...["tokens up to", "values", "reward least", "reward 5 %", "reward 25 %", "reward median"],
      ...["reward 75 %", "reward 95 %", "reward greatest"],
    ],
    [4, 8, 1, 2, 3, 4, 5, 6, 7],
  ]);
});

it("a table has few rows, the newest among them", () => {
  expect(chosenOf(many, 40).map(({ x }) => x)).toEqual(
    Array.from({ length: 32 }, (_, i) => 3 * i + 2),
  );
  expect(chosenOf(many.slice(0, 3), 40)).toEqual(many.slice(0, 3));
});
