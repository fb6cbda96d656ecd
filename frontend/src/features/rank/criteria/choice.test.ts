import { expect, it } from "vitest";

import { move, start, wordsOf, type Ranking } from "../ranking/ranking";
import { wordsOfDecision, wordsOfChoice } from "./choice";

const after = (ranking: Ranking, ...cards: number[]) =>
  cards.reduce((now, card) => move(now, { kind: "letter", card }), ranking);

it("says of two responses that the choice submits, also where it is made again", () => {
  const empty = start(2);
  expect([0, 1].map((card) => wordsOfChoice(empty, card))).toEqual([
    "A is better: submit",
    "B is better: submit",
  ]);
  expect(wordsOfChoice(after(empty, 1), 1)).toBe("B is better: submit");
});

it("says of two responses that another criterion follows, until the last one or one passed over", () => {
  const criteria = ["helpful", "harmless"].map((name) => ({ name, question: `More ${name}?` }));
  const first = start(2, criteria);
  expect(wordsOfChoice(first, 0)).toBe("A is better: next criterion");
  const passedOver = move(first, { kind: "step", step: 1 });
  expect(wordsOfChoice(passedOver, 0)).toBe("A is better: next criterion");
  const answered = move(after(first, 0), { kind: "step", step: 1 });
  expect(wordsOfChoice(answered, 0)).toBe("A is better: submit");
});

it("tells of more responses which are ranked next, selected and tied", () => {
  const ranking = after(start(4), 1);
  expect(wordsOfChoice(ranking, 0)).toBe("Rank A next");
  expect(wordsOfChoice(ranking, 1)).toBe("Select B");
  const tying = move(ranking, { kind: "tie" });
  expect(wordsOfChoice(tying, 0)).toBe("Tie A with B");
  expect(wordsOfChoice(tying, 1)).toBe("No tie with B");
  expect(wordsOf(after(tying, 1))).toBe("B");
  expect(after(tying, 1).isTying).toBe(false);
});

it("tells of the tie and of all bad, too, that they say all of two responses", () => {
  const [tie, allBad] = [{ kind: "tie" }, { kind: "verdict", verdict: "all_bad" }] as const;
  expect(wordsOfDecision("Tie", start(2), tie)).toBe("Tie: submit");
  expect(wordsOfDecision("All bad", start(2), allBad)).toBe("All bad: submit");
  expect(wordsOfDecision("Tie", start(3), tie)).toBeNull();
});
