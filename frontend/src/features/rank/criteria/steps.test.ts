import { describe as group, expect, it } from "vitest";

import {
  atStep,
  describe,
  judgmentOf,
  move,
  start,
  undecided,
  whatIsMissing,
  wordsOf,
  type Ranking,
} from "../ranking/ranking";
import { canOpen, nextStep } from "./steps";

const CRITERIA = [
  { name: "helpful", question: "Which helps more?" },
  { name: "harmless", question: "Which does less harm?" },
  { name: "honest", question: "Which is true?" },
];

/** Places cards by letters, after what is placed already. */
const placed = (ranking: Ranking, letters: string): Ranking =>
  [...letters].reduce(
    (now, letter) => move(now, { kind: "letter", card: letter.charCodeAt(0) - 97 }),
    ranking,
  );

/** Enter: on to where it leads. */
function enter(ranking: Ranking): Ranking {
  const step = nextStep(ranking);
  return step === null ? ranking : move(ranking, { kind: "step", step });
}

group("criteria one after the other", () => {
  const first = placed(start(3, CRITERIA), "bac");
  const second = placed(enter(first), "cba");

  it("begin each with nothing placed, and keep what was said", () => {
    expect(enter(first)).toMatchObject({ step: 1, tiers: [], order: [] });
    expect(atStep(second, 0).tiers).toEqual([[1], [0], [2]]);
    expect(atStep(atStep(second, 0), 1)).toMatchObject({ step: 1, tiers: [[2], [1], [0]] });
  });
  it("end with the last: then Enter submits", () => {
    const third = placed(enter(second), "abc");
    expect(nextStep(first)).toBe(1);
    expect(nextStep(third)).toBeNull();
    // Its button says so before it is answered.
    expect(nextStep(enter(second))).toBeNull();
    expect(nextStep(placed(start(3), "abc"))).toBeNull();
  });
  it("lead from the last back to one that was undone", () => {
    const third = placed(enter(second), "abc");
    const undone = move(atStep(third, 0), { kind: "takeBack" });
    const emptied = move(move(undone, { kind: "takeBack" }), { kind: "takeBack" });
    expect(nextStep(atStep(emptied, 2))).toBe(0);
  });
  it("can be opened as far as they are answered", () => {
    expect([0, 1, 2].map((step) => canOpen(first, step))).toEqual([true, true, false]);
    expect([0, 1, 2].map((step) => canOpen(start(3, CRITERIA), step))).toEqual([
      true,
      false,
      false,
    ]);
  });
  it("share flags and the note", () => {
    const flagged = move(move(first, { kind: "flag", card: 2 }), { kind: "comment", text: "n" });
    const done = placed(enter(placed(enter(flagged), "ab")), "ab");
    expect(judgmentOf(done, ["r0", "r1", "r2"])).toMatchObject({ flags: ["r2"], comment: "n" });
  });
  it("are sent together, each with its name", () => {
    const bad = move(enter(second), { kind: "verdict", verdict: "all_bad" });
    expect(judgmentOf(bad, ["r0", "r1", "r2"])).toEqual({
      rankings: [
        {
          criterion: "helpful",
          tiers: [["r1"], ["r0"], ["r2"]],
          unranked: [],
          verdict: "ranked",
          reasons: [],
        },
        {
          criterion: "harmless",
          tiers: [["r2"], ["r1"], ["r0"]],
          unranked: [],
          verdict: "ranked",
          reasons: [],
        },
        {
          criterion: "honest",
          tiers: [],
          unranked: ["r0", "r1", "r2"],
          verdict: "all_bad",
          reasons: [],
        },
      ],
      comment: "",
      flags: [],
    });
  });
  it("complete two cards by one letter, also on the way", () => {
    const one = placed(start(2, CRITERIA.slice(0, 2)), "b");
    const both = placed(enter(one), "a");
    expect(judgmentOf(both, ["r0", "r1"])).toMatchObject({
      rankings: [{ tiers: [["r1"], ["r0"]] }, { tiers: [["r0"], ["r1"]] }],
    });
  });
  it("are each answered by one key where two cards are ranked, and the key leads on", () => {
    const by = { kind: "letter", card: 1 } as const;
    const first = start(2, CRITERIA.slice(0, 2));
    const step = nextStep(move(first, by));
    expect(step).toBe(1);
    const next = move(first, { kind: "answer", by, step: step ?? 0 });
    expect(next).toMatchObject({ step: 1, tiers: [], answers: [{ tiers: [[1], [0]] }, null] });
    const last = move(next, { kind: "verdict", verdict: "all_bad" });
    expect([nextStep(last), wordsOf(last)]).toEqual([null, "helpful: B > A; harmless: all bad"]);
    // Taken back, the answers before it stay.
    expect(undecided(last)).toMatchObject({ step: 1, verdict: "ranked", tiers: [] });
    expect(wordsOf(undecided(last))).toMatch(/^helpful: B > A; /);
  });
  it("are told to who cannot see them", () => {
    expect(describe(first, enter(first))).toBe("2 of 3: harmless. Which does less harm?");
    expect(describe(start(2), placed(start(2), "ab"))).toMatch(/: submit \(Enter\)\.$/);
    const two = start(2, CRITERIA);
    expect(describe(placed(two, "a"), placed(two, "ab"))).toMatch(/: go on \(Enter\)\.$/);
  });
  it("are not there where the project has none", () => {
    expect(judgmentOf(placed(start(2), "ab"), ["r0", "r1"])).not.toHaveProperty("rankings");
    expect(whatIsMissing(atStep(start(2), 1))).not.toBeNull();
  });
});
