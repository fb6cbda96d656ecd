import { describe, expect, it } from "vitest";

import { changeOf, clashing, differing, taken, withFields, type Typed } from "./typed";

const typed = (more: Partial<Typed> = {}): Typed => ({
  name: "Wool",
  guidelines: "Be kind.",
  each: "1",
  first: "20",
  percent: "10",
  reasons: "unclear\nunreadable",
  criteria: [{ name: "helpful", question: "Which helps more?" }],
  ...more,
});

describe("what a form of settings sends", () => {
  it("is what was typed and nothing else", () => {
    expect(changeOf(typed(), typed())).toEqual({});
    expect(changeOf(typed({ name: " Silk ", percent: "12.5" }), typed())).toEqual({
      name: "Silk",
      overlap_share: 0.125,
    });
    expect(changeOf(typed({ criteria: [], reasons: "a\n\n a" }), typed())).toEqual({
      criteria: [],
      cannot_judge_reasons: ["a"],
    });
  });
  it("has no change of spaces, empty lines and criteria without words", () => {
    const same = typed({
      name: "Wool ",
      reasons: "unclear\n\nunreadable\n",
      criteria: [...typed().criteria, { name: "", question: " " }],
    });
    expect(differing(same, typed())).toEqual([]);
  });
});

describe("settings that somebody else saved meanwhile", () => {
  const from = typed();
  const newest = typed({ each: "3", guidelines: "Theirs.", name: "Silk" });

  it("are taken where nothing was typed, and clash where both typed", () => {
    const mine = typed({ guidelines: "Mine.", reasons: "other" });
    expect(taken(mine, from, newest)).toEqual(["name", "each"]);
    expect(clashing(mine, from, newest)).toEqual(["guidelines"]);
    const now = withFields(mine, taken(mine, from, newest), newest);
    expect(now).toEqual(typed({ name: "Silk", each: "3", guidelines: "Mine.", reasons: "other" }));
    expect(changeOf(now, newest)).toEqual({ guidelines: "Mine.", cannot_judge_reasons: ["other"] });
  });
  it("do not clash if both typed the same", () => {
    expect(clashing(typed({ name: "Silk" }), from, newest)).toEqual([]);
  });
});
