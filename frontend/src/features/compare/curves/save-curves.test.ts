import { describe, expect, it } from "vitest";

import type { GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroups, Series } from "@/api/types";
import type { Explained } from "@/components/metrics/explained";
import { csvOf } from "@/lib/files/csv";
import { fileName } from "@/lib/files/file-name";

import { nameOf, rowsOf } from "./save-curves";

const answer = { groups: [{ name: "", runs: ["r1", "r2"] }] } as unknown as SeedGroups;
const runs = new Map([["r1", { name: "=HYPERLINK(1)" } as unknown as Run]]);
const group: GroupCurve = {
  ...{ group: 0, name: "loss", is_iqm: false, x: [1, 2], n: [3, 2], n_nan: [0, 1] },
  ...{ value: [0.1, null], low: [0, null], high: [0.2, null] },
};
const series: Series = {
  ...{ run: "r1", name: "loss", n: 2, x: [1, 2], origin: 0, first: 0.5, newest: null },
  ...{ n_points: [1, 1], n_nan: [0, 1] },
  y: { low: 0, unit: 1, min: [0.5, null], max: [0.5, null], mean: [0.5, null], last: [0.5, null] },
};

describe("a file of compared curves", () => {
  it("has the groups bucket by bucket, then the runs value by value", () => {
    expect(rowsOf(answer, runs, "tokens", [group], [series])).toEqual([
      ["group", "run", "name", "tokens up to", "value", "low", "high", "seeds", "values", "NaN"],
      ["A", "", "", 1, 0.1, 0, 0.2, 3, "", 0],
      // Of two seeds there is no mean, which is not NaN.
      ["A", "", "", 2, "", "", "", 2, "", 1],
      ["A", "r1", "=HYPERLINK(1)", 1, 0.5, "", "", "", 1, 0],
      ["A", "r1", "=HYPERLINK(1)", 2, null, "", "", "", 0, 1],
    ]);
  });
  it("says where its rows are buckets, and no name is a formula", () => {
    const long = { ...series, n: 64 };
    const text = csvOf(rowsOf(answer, runs, "relative", [], [long]));
    expect(text).toContain("relative_s up to");
    expect(text).toContain(`"'=HYPERLINK(1)"`);
  });
});

describe("the name of a file", () => {
  const explained = { name: "eval/reward" } as unknown as Explained;
  const named = new Map(
    ["r1", "r2", "r3"].map((id) => [id, { id, name: id === "r3" ? "DPO" : "GRPO" } as Run]),
  );
  const saved = (...groups: { name: string; runs: string[] }[]) =>
    fileName(
      nameOf({ explained, answer: { groups } as unknown as SeedGroups, runs: named }),
      "csv",
    );

  it("says what is compared", () => {
    const name = saved({ name: "lr 1e-5", runs: ["r1", "r2"] }, { name: "", runs: ["r3"] });
    expect(name).toMatch(/^compare A- lr 1e-5- B- DPO [0-9a-z]+ eval-reward\.csv$/);
  });
  it("is that of one comparison alone, and always the same", () => {
    const [two, other] = [
      { name: "", runs: ["r1", "r2"] },
      { name: "", runs: ["r1", "r3"] },
    ];
    expect(saved(two)).toMatch(/^compare A- 2 runs /);
    expect(saved(two)).not.toBe(saved(other));
    expect(saved(two)).toBe(saved(two));
    expect(saved({ name: "", runs: ["r1"] }, { name: "", runs: ["r2"] })).not.toBe(saved(two));
  });
});
