import { describe as group, expect, it } from "vitest";

import { inWords } from "@/lib/letters";
import { seededChance } from "@/lib/seeded-chance";

import { commandOf, type Key } from "../keys/keys";
import {
  completed,
  decided,
  describe,
  judgmentOf,
  letterOf,
  move,
  rankingOf,
  start,
  undecided,
  unranked,
  whatIsMissing,
  wordsOf,
  type Move,
  type Ranking,
} from "./ranking";

const REASONS = ["needs expertise", "unreadable"];

const press = (key: string, more: Partial<Key> = {}): Key => ({
  key,
  code: "",
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

/** Types keys one after another; "<" stands for Backspace, "^" and "_" for the arrows up and down. */
function typed(count: number, keys: string): Ranking {
  const names: Record<string, string> = { "<": "Backspace", "^": "ArrowUp", _: "ArrowDown" };
  return [...keys].reduce((ranking, key) => {
    const command = commandOf(press(names[key] ?? key), ranking, REASONS);
    return command?.kind === "move" ? move(ranking, command.move) : ranking;
  }, start(count));
}

const shown = (ranking: Ranking): string =>
  ranking.tiers.map((tier) => tier.map(letterOf).join("=")).join(">");

group("typing letters from best to worst", () => {
  it.each([
    ["bacd", "B>A>C>D"],
    ["BACD", "B>A>C>D"],
    ["ba=dc", "B>A=D>C"],
    ["a=b=c=d", "A=B=C=D"],
    ["b", "B"],
    ["", ""],
  ])("%s gives %s", (keys, order) => {
    expect(shown(typed(4, keys))).toBe(order);
  });

  it("ignores letters of cards that are not there", () => {
    expect(shown(typed(3, "adb"))).toBe("A>B");
  });

  it("selects a card that is already placed instead of placing it twice", () => {
    expect(shown(typed(4, "abca3"))).toBe("B>C=A");
  });

  it("ties an already placed card with the last one after =", () => {
    expect(shown(typed(4, "abcd=a"))).toBe("B>C>D=A");
  });

  it("lets a second = take the first one back", () => {
    expect(shown(typed(4, "a==b"))).toBe("A>B");
  });

  it("takes no tie before the first card", () => {
    expect(shown(typed(4, "=ab"))).toBe("A>B");
  });
});

group("moving the last card", () => {
  it.each([
    ["abcd1", "A=D>B>C"],
    ["abcd9", "A>B>C>D"],
    ["ab=c9", "A>B>C"],
    ["ab=c2", "A>B=C"],
    ["abc0", "A>B"],
    ["abc<", "A>B"],
    ["abc<<<<", ""],
    ["a=<b", "A>B"],
    ["abc^", "A>C>B"],
    ["abc^^^", "C>A>B"],
    ["a=b^", "B>A"],
    ["a=b_", "A>B"],
    ["abca_", "B>A>C"],
    ["aba1", "A>B"],
    ["aba2", "B=A"],
  ])("%s gives %s", (keys, order) => {
    expect(shown(typed(4, keys))).toBe(order);
  });

  it("moves nothing while nothing is placed", () => {
    expect(shown(typed(4, "1<^_0"))).toBe("");
  });
});

group("dragging", () => {
  const drop = (card: number, tier: number, isNewTier: boolean) =>
    ({ kind: "drop", card, tier, isNewTier }) as const;
  it("drops a card between two tiers as a tier of its own", () => {
    expect(shown(move(typed(4, "abc"), drop(3, 1, true)))).toBe("A>D>B>C");
  });
  it("drops a card on a tier as a tie", () => {
    expect(shown(move(typed(4, "abc"), drop(0, 2, false)))).toBe("B>C=A");
  });
  it("keeps the order when a lone card is dropped where it stands", () => {
    expect(shown(move(typed(4, "abc"), drop(1, 1, true)))).toBe("A>B>C");
    expect(shown(move(typed(4, "abc"), drop(1, 2, true)))).toBe("A>B>C");
  });
  it("moves a card down past its neighbour", () => {
    expect(shown(move(typed(4, "abc"), drop(0, 2, true)))).toBe("B>A>C");
  });
  it("takes a card out of the ranking", () => {
    expect(shown(move(typed(4, "abc"), { kind: "unrank", card: 1 }))).toBe("A>C");
  });
});

group("two cards", () => {
  it("are ranked by a single letter", () => {
    expect(shown(typed(2, "b"))).toBe("B>A");
    expect(whatIsMissing(typed(2, "b"))).toBeNull();
  });
  it.each([
    ["=", "A=B"],
    ["a=", "A=B"],
    ["ab", "B>A"],
    ["a^", "B>A"],
    ["a1", "A=B"],
    ["a<", ""],
    ["a0", ""],
    ["=<b", "B>A"],
  ])("are both ranked or not at all: %s gives %s", (keys, order) => {
    expect(shown(typed(2, keys))).toBe(order);
    expect([0, 2]).toContain(unranked(typed(2, keys)).length);
  });
  it("are both ranked when one is dragged onto the bar, and not when one is dragged off", () => {
    const dropped = move(start(2), { kind: "drop", card: 1, tier: 0, isNewTier: true });
    expect([shown(dropped), dropped.order.at(-1)]).toEqual(["B>A", 1]);
    expect(shown(move(dropped, { kind: "unrank", card: 0 }))).toBe("");
    // A version that showed one as unranked kept it so.
    expect(shown(completed({ ...start(2), tiers: [[1]], order: [1] }))).toBe("B>A");
  });
});

group("one key for two cards", () => {
  const said = (action: Parameters<typeof decided>[1], ranking = start(2)) =>
    decided(ranking, action);
  it("says all: the better one, a tie, or all bad", () => {
    const rankings = [
      said({ kind: "letter", card: 1 }),
      said({ kind: "letter", card: 0 }),
      said({ kind: "tie" }),
      said({ kind: "verdict", verdict: "all_bad" }),
    ];
    expect(rankings.map((one) => one && wordsOf(one))).toEqual([
      "B > A",
      "A > B",
      "A = B",
      "all bad",
    ]);
    expect(rankings.map((one) => one && whatIsMissing(one))).toEqual([null, null, null, null]);
  });
  it("says it also of what was ranked otherwise before, and keeps note and flags", () => {
    const before = { ...typed(2, "a"), comment: "why", flags: [1] };
    const after = said({ kind: "letter", card: 1 }, before);
    expect(after && [wordsOf(after), after.comment, after.flags]).toEqual(["B > A", "why", [1]]);
    expect(undecided(before)).toEqual({ ...start(2), comment: "why", flags: [1] });
  });
  it("says nothing for good where a reason, a digit or a third card is to come", () => {
    expect(said({ kind: "verdict", verdict: "cannot_judge" })).toBeNull();
    expect(said({ kind: "digit", rank: 1 })).toBeNull();
    expect(said({ kind: "letter", card: 2 })).toBeNull();
    expect(said({ kind: "letter", card: 0 }, start(3))).toBeNull();
  });
});

group("what can be submitted", () => {
  it("is a full or a partial ranking of two cards or more", () => {
    expect(whatIsMissing(typed(4, "bacd"))).toBeNull();
    expect(whatIsMissing(typed(4, "ba"))).toBeNull();
    expect(unranked(typed(4, "ba"))).toEqual([2, 3]);
  });
  it("is not an empty ranking nor a single card of several", () => {
    expect(whatIsMissing(typed(4, ""))).toMatch(/best to worst/);
    expect(whatIsMissing(typed(4, "b"))).toMatch(/two responses/);
  });
  it("is all bad by one key, and the key again takes it back", () => {
    expect(whatIsMissing(typed(4, "x"))).toBeNull();
    expect(typed(4, "xx").verdict).toBe("ranked");
  });
  it("is cannot judge once a digit has named a reason", () => {
    expect(whatIsMissing(typed(4, "j"))).not.toBeNull();
    expect(typed(4, "j2").reasons).toEqual(["unreadable"]);
    expect(whatIsMissing(typed(4, "j2"))).toBeNull();
  });
  it("is a ranking again after a letter is typed", () => {
    expect(typed(4, "xab").verdict).toBe("ranked");
  });
});

group("keys", () => {
  it("leave the browser's own shortcuts alone, save undo", () => {
    expect(commandOf(press("a", { ctrlKey: true }), start(4), REASONS)).toBeNull();
    expect(commandOf(press("z", { metaKey: true }), start(4), REASONS)).toEqual({ kind: "undo" });
  });
  it("flag a card with Shift", () => {
    const command = commandOf(press("B", { shiftKey: true }), start(4), REASONS);
    expect(command).toEqual({ kind: "move", move: { kind: "flag", card: 1 } });
  });
  it("scroll a page with the space bar, and back with Shift", () => {
    expect(commandOf(press(" "), start(4), REASONS)).toEqual({ kind: "scroll", by: 1 });
    const back = commandOf(press(" ", { shiftKey: true }), start(4), REASONS);
    expect(back).toEqual({ kind: "scroll", by: -1 });
  });
  it("never give an action a letter that a card may have", () => {
    for (const key of "abcdefghi") {
      const command = commandOf(press(key), start(9), REASONS);
      expect(command).toEqual({
        kind: "move",
        move: { kind: "letter", card: key.charCodeAt(0) - 97 },
      });
    }
  });
});

group("what a screen reader hears", () => {
  it("names the place, the tie and what is left", () => {
    expect(describe(typed(4, "a="), typed(4, "a=b"))).toBe("B is 1st, tied with A. 2 to rank.");
    expect(describe(typed(2, "a"), typed(2, "ab"))).toMatch(/All are ranked: submit \(Enter\)/);
    expect(describe(typed(4, "ab"), typed(4, "a"))).toBe("B is unranked.");
    expect(describe(typed(2, "b"), typed(2, "b<"))).toBe("B and A are unranked.");
  });

  it.each<[string, Move, string]>([
    ["ab", { kind: "letter", card: 0 }, "A is selected: 1st."],
    ["a=bc", { kind: "letter", card: 0 }, "A is selected: 1st, tied with B."],
    ["ab=", { kind: "tie" }, "No tie."],
    ["ab", { kind: "flag", card: 2 }, "C is flagged."],
    ["ab=", { kind: "comment", text: "a note" }, ""],
  ])("tells after %s what %j does", (keys, action, words) => {
    const before = typed(4, keys);
    expect(describe(before, move(before, action))).toBe(words);
  });

  it("tells what is taken off again: a flag, a verdict, a reason", () => {
    const back = (before: Ranking, action: Move) => describe(before, move(before, action));
    const flagged = move(start(4), { kind: "flag", card: 2 });
    expect(back(flagged, { kind: "flag", card: 2 })).toBe("C is no longer flagged.");
    const allBad: Move = { kind: "verdict", verdict: "all_bad" };
    expect(back(move(start(4), allBad), allBad)).toBe("All bad is taken back.");
    const notJudged: Move = { kind: "verdict", verdict: "cannot_judge" };
    const unjudged = move(start(4), notJudged);
    expect(back(unjudged, notJudged)).toBe("Cannot judge is taken back.");
    const reason: Move = { kind: "reason", reason: "unsafe" };
    expect(back(unjudged, reason)).toBe("unsafe: chosen.");
    expect(back(move(unjudged, reason), reason)).toBe("unsafe: no longer chosen.");
  });
});

group("what is sent", () => {
  const ids = ["r0", "r1", "r2", "r3"];
  it("names each response once, tiers best first", () => {
    expect(judgmentOf(typed(4, "da=b"), ids)).toMatchObject({
      tiers: [["r3"], ["r0", "r1"]],
      unranked: ["r2"],
      verdict: "ranked",
    });
  });
  it("has no tiers where all are bad, whatever was placed before", () => {
    expect(judgmentOf(typed(4, "abx"), ids)).toMatchObject({
      tiers: [],
      unranked: ids,
      verdict: "all_bad",
    });
  });
});

const MOVES: Readonly<Record<string, Move>> = {
  "letter 0": { kind: "letter", card: 0 },
  "letter 1": { kind: "letter", card: 1 },
  "step 1": { kind: "step", step: 1 },
  tie: { kind: "tie" },
};

group("what was sent", () => {
  const ids = ["r0", "r1", "r2", "r3"];
  it.each(["da=b", "dacb", "a=b=c=d", "ba", "x", "j2"])("%s comes back as it was", (keys) => {
    const ranking = { ...typed(4, keys), flags: [2], comment: "note" };
    const sent = judgmentOf(ranking, ids);
    expect(judgmentOf(rankingOf(sent, ids), ids)).toEqual(sent);
    const isRanked = ranking.verdict === "ranked";
    expect(wordsOf(rankingOf(sent, ids))).toBe(
      wordsOf({ ...ranking, tiers: isRanked ? ranking.tiers : [] }),
    );
  });
  it("comes back under each criterion", () => {
    const criteria = [
      { name: "helpful", question: "Which helps more?" },
      { name: "harmless", question: "Which harms less?" },
    ];
    const keys = ["letter 0", "letter 1", "step 1", "letter 0", "tie"];
    let ranking = start(2, criteria);
    for (const key of keys) ranking = move(ranking, MOVES[key] ?? { kind: "tie" });
    const sent = judgmentOf(ranking, ["r0", "r1"]);
    expect(judgmentOf(rankingOf(sent, ["r0", "r1"]), ["r0", "r1"])).toEqual(sent);
    expect(wordsOf(rankingOf(sent, ["r0", "r1"]))).toBe("helpful: B > A; harmless: A = B");
  });
  it("reads as letters and words", () => {
    const words = (keys: string) => wordsOf(typed(4, keys));
    expect([words("ba=cd"), words("x"), words("j2")]).toEqual([
      "B > A = C > D",
      "all bad",
      "cannot judge (unreadable)",
    ]);
    const lettered = { tiers: [["B"], ["A", "C"]], verdict: "ranked", reasons: [] } as const;
    expect(inWords(lettered, ["D"])).toBe("B is 1st, A and C are both 2nd; D has no rank.");
  });
});

group("laws", () => {
  it("after any 2,000 random keys every card is in one place exactly", () => {
    const chance = seededChance(7);
    const random = (below: number) => Math.floor(below * chance());
    const keys = "abcdefghi=0123456789<^_xj";
    for (let round = 0; round < 200; round += 1) {
      const count = 2 + random(8);
      const text = Array.from({ length: 10 }, () => keys[random(keys.length)] ?? "").join("");
      const ranking = typed(count, text);
      const everywhere = [...ranking.tiers.flat(), ...unranked(ranking)].sort((a, b) => a - b);
      expect(everywhere, text).toEqual(Array.from({ length: count }, (_, card) => card));
      expect(ranking.tiers.every((tier) => tier.length > 0)).toBe(true);
      expect([...ranking.order].sort()).toEqual(ranking.tiers.flat().sort());
    }
  });
});
