import { describe, expect, it } from "vitest";

import { changedFields, changeOf, clashingFields } from "./typed";

const seen = { name: "first", tags: ["a"], notes: "" };

describe("a change of a run", () => {
  it("sends what was changed, with what it was made from, and nothing else", () => {
    const typed = { name: "second", tags: ["a"] };
    const newest = { ...seen, tags: ["a", "theirs"] };
    expect(changeOf(typed, seen, newest)).toEqual({ name: "second", before: { name: "first" } });
    expect(changedFields({ name: "first", tags: ["a"] }, seen)).toEqual([]);
  });
  it("clashes with another of the same field", () => {
    expect(clashingFields({ notes: "mine" }, seen, { ...seen, notes: "theirs" })).toEqual([
      "notes",
    ]);
    expect(clashingFields({ notes: "mine" }, seen, { ...seen, name: "theirs" })).toEqual([]);
    expect(clashingFields({ notes: "mine" }, seen, { ...seen, notes: "mine" })).toEqual([]);
  });
  it("replaces what its author was shown, and is refused for what came since", () => {
    const shown = { ...seen, notes: "theirs" };
    expect(changeOf({ notes: "mine" }, seen, shown).before).toEqual({ notes: "theirs" });
  });
});
