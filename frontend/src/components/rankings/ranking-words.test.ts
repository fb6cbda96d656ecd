import { describe, expect, it } from "vitest";

import type { GivenRanking } from "@/api/types";

import { flaggedOf, nameOf, saidOf } from "./ranking-words";

const given: GivenRanking = {
  by: "Ada",
  is_own: false,
  tiers: [["r2"], ["r3", "r1"]],
  unranked: ["r4"],
  verdict: "ranked",
  reasons: [],
  rankings: [],
  flags: [],
  comment: "",
  created_at: "2026-11-23T12:00:00Z",
};
const ids = ["r1", "r2", "r3", "r4"];

describe("a ranking", () => {
  it("is told in letters, best first, ties beside each other", () => {
    expect(saidOf(given, ids)).toEqual([{ criterion: "", words: "B > A = C; D not ranked" }]);
  });

  it("is told by criterion where there are any", () => {
    const one = { question: "?", reasons: [], unranked: [] };
    const rankings: GivenRanking["rankings"] = [
      { ...one, criterion: "helpful", tiers: [["r1"], ["r2"]], verdict: "ranked" },
      {
        ...one,
        criterion: "harmless",
        tiers: [],
        verdict: "cannot_judge",
        reasons: ["unreadable"],
      },
      { ...one, criterion: "short", tiers: [["r2"], ["r1"]], verdict: "all_bad" },
    ];
    expect(saidOf({ ...given, rankings }, ids)).toEqual([
      { criterion: "helpful", words: "A > B" },
      { criterion: "harmless", words: "cannot judge (unreadable)" },
      { criterion: "short", words: "all bad; B > A" },
    ]);
  });

  it("says why a comparison cannot be judged, as far as its annotator said so", () => {
    const none: GivenRanking = { ...given, tiers: [], unranked: ids, verdict: "cannot_judge" };
    const words = (reasons: string[]) => saidOf({ ...none, reasons }, ids)[0]?.words;
    expect(words(["prompt unclear", "unreadable"])).toBe(
      "cannot judge (prompt unclear, unreadable)",
    );
    expect(words([])).toBe("cannot judge");
  });

  it("names the responses that were flagged", () => {
    expect(flaggedOf({ ...given, flags: ["r3", "r1"] }, ids)).toBe("A, C");
    expect(flaggedOf(given, ids)).toBe("");
  });

  it("has the name of its author for whoever may see it", () => {
    expect(nameOf(given)).toBe("Ada");
    expect(nameOf({ ...given, by: null })).toBe("An annotator");
    expect(nameOf({ ...given, is_own: true })).toBe("You");
  });
});
