import { describe, expect, it } from "vitest";

import { isOvertaken, seenRevision } from "./view-base";

const base = { query: "by=loss", revision: 3 };

describe("a change of a saved view", () => {
  it("is overtaken by other settings of somebody else, and is made from what its author saw", () => {
    const theirs = { query: "by=kl", revision: 4 };
    expect(isOvertaken(base, theirs)).toBe(true);
    expect(seenRevision(base, theirs)).toBe(3);
  });
  it("is not overtaken by another name", () => {
    const renamed = { query: "by=loss", revision: 5 };
    expect(isOvertaken(base, renamed)).toBe(false);
    expect(seenRevision(base, renamed)).toBe(5);
  });
  it("is not overtaken by what this page has saved and not read again yet", () => {
    const saved = { query: "by=reward", revision: 4 };
    expect(isOvertaken(saved, base)).toBe(false);
    expect(seenRevision(saved, base)).toBe(4);
  });
});
