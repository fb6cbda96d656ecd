import { describe, expect, it } from "vitest";

import type { Series } from "@/api/types";
import type { Drawn } from "@/components/chart/columns";
import { viewOf } from "@/features/run/view";
import { csvOf } from "@/lib/files/csv";

import { rowsOf, valuesTextOf } from "./save-chart";

const VIEW = viewOf(new URLSearchParams());
const series = (name: string, x: number[], values: (number | null)[], n = x.length): Series => ({
  ...{ run: "run_1", name, n, x, n_nan: values.map(() => 0), origin: 0 },
  ...{
    n_points: x.map(() => n / x.length),
    first: values[0] ?? null,
    newest: values.at(-1) ?? null,
  },
  y: { low: 0, unit: 1, min: values, max: values, mean: values, last: values },
});

describe("the values of a chart as a file", () => {
  it("are exact, one by one, each with its interval", () => {
    const rows = rowsOf("eval/reward", VIEW, [
      series("eval/reward", [0, 50, 100], [0.1 + 0.2, null, 1 / 3]),
      series("eval/reward_low", [0, 100], [0.25, 0.3]),
      series("eval/reward_high", [0, 100], [0.35, 0.4]),
    ]);
    expect(csvOf(rows).split("\r\n")).toEqual([
      "step,eval/reward,eval/reward_low,eval/reward_high",
      "0,0.30000000000000004,0.25,0.35",
      "50,NaN,NaN,NaN",
      "100,0.3333333333333333,0.3,0.4",
      "",
    ]);
  });
  it("are buckets that say so where there are too many", () => {
    const rows = rowsOf("loss", { ...VIEW, axis: "tokens" }, [series("loss", [9, 19], [1, 2], 20)]);
    expect(rows[0]).toEqual([
      ...["tokens up to", "loss mean", "loss min", "loss max", "loss last", "values that are NaN"],
    ]);
    expect(rows[2]).toEqual([19, 2, 2, 2, 2, 0]);
  });
  it("have a head even where the part that is shown has none", () => {
    expect(rowsOf("loss", VIEW, [])).toEqual([["step", "loss"]]);
  });
});

describe("what the menu says of the file", () => {
  /** A curve of so many values, of which the part that is shown has so many. */
  const said = (n: number, part: number | null = null) => {
    const ends = (of: number) => ({ n: of, first: 0, newest: 1 });
    const curve = { ends: ends(n), part: part === null ? null : ends(part) };
    const zoom = part === null ? null : ([10, 20] as const);
    return valuesTextOf({ drawn: { curve } as unknown as Drawn, view: { ...VIEW, zoom } });
  };
  it("is that it has every value, as far as the server answers them one by one", () => {
    expect(said(40_000)).toBe("exact, all values");
    expect(said(40_001)).toBe("means of buckets, all steps");
  });
  it("is told of the part that is shown", () => {
    expect(said(90_000, 40_000)).toBe("exact, the part that is shown");
    expect(said(90_000, 40_001)).toBe("means of buckets, the part that is shown");
  });
});
