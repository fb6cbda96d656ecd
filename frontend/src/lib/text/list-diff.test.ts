import { describe, expect, it, vi } from "vitest";

import { compareLists, type Run } from "./list-diff";

/** The same letters on each run of the test. */
function someLists(): [string[], string[]][] {
  let seed = 1;
  const below = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  const list = () => Array.from({ length: below(14) }, () => "abcd".charAt(below(4)));
  return Array.from({ length: 1000 }, () => [list(), list()]);
}

/** How many items stay at most, by the definition. */
function mostKept(first: readonly string[], second: readonly string[]): number {
  let row = second.map(() => 0);
  for (const item of first) {
    const next: number[] = [];
    second.forEach((other, at) => {
      const without = Math.max(row[at] ?? 0, next[at - 1] ?? 0);
      next.push(other === item ? (row[at - 1] ?? 0) + 1 : without);
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}

const itemsOf = (runs: readonly Run[] | null, without: Run["of"]) =>
  (runs ?? []).flatMap(({ items, of }) => (of === without ? [] : items));

describe("compareLists", () => {
  it("tells what is gone before what came for it", () => {
    expect(compareLists(["a", "b", "d"], ["a", "c", "d"])).toEqual([
      { items: ["a"], of: "both" },
      { items: ["b"], of: "first" },
      { items: ["c"], of: "second" },
      { items: ["d"], of: "both" },
    ]);
  });

  it.each([
    [[], [], []],
    [["a"], [], [{ items: ["a"], of: "first" }]],
    [[], ["a"], [{ items: ["a"], of: "second" }]],
    [["a"], ["a"], [{ items: ["a"], of: "both" }]],
  ])("compares %j and %j", (first, second, runs) => {
    expect(compareLists(first, second)).toEqual(runs);
  });

  it("holds both lists, with as few changes as there can be", () => {
    for (const [first, second] of someLists()) {
      const runs = compareLists(first, second);
      expect([itemsOf(runs, "second"), itemsOf(runs, "first")]).toEqual([first, second]);
      const changes = first.length + second.length - 2 * mostKept(first, second);
      expect(compareLists(first, second, changes)).toEqual(runs);
      if (changes > 0) expect(compareLists(first, second, changes - 1)).toBeNull();
    }
  });

  // A page stands still meanwhile: time and memory are those of the numbers that it makes.
  it("makes one number for each step of its search, and nothing else", () => {
    let made = 0;
    vi.stubGlobal(
      "Int32Array",
      class extends Int32Array {
        constructor(length: number) {
          super(length);
          made += length;
        }
      },
    );
    const list = (factor: number) =>
      Array.from({ length: 1000 }, (_, i) => String((i * i * factor) % 400));
    const [first, second] = [list(7), list(11)];
    const runs = compareLists(first, second) ?? [];
    vi.unstubAllGlobals();
    const changes = runs.flatMap(({ items, of }) => (of === "both" ? [] : items)).length;
    expect(changes).toBeGreaterThan(1000);
    const steps = ((changes + 1) * (changes + 2)) / 2;
    expect(made).toBe(first.length + second.length + steps);
  });

  it("ends one run where another begins", () => {
    for (const [first, second] of someLists()) {
      const kinds = (compareLists(first, second) ?? []).map(({ of }) => of);
      expect(kinds.some((of, at) => of === kinds[at + 1])).toBe(false);
    }
  });
});
