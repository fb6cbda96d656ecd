import { describe, expect, it } from "vitest";

import type { Move } from "../ranking/ranking";
import { BOUNCE_MS, DOUBLE_CLICK_MS, LastSaid } from "./twice";

const A: Move = { kind: "letter", card: 0 };
const B: Move = { kind: "letter", card: 1 };

function said(): LastSaid {
  const last = new LastSaid();
  last.say(A, "one", 1000);
  return last;
}

describe("the second click of two", () => {
  it("says nothing of the next comparison", () => {
    expect(said().isTwice(A, "two", 1000 + DOUBLE_CLICK_MS - 1)).toBe(true);
    expect(said().isTwice(A, "two", 1000 + DOUBLE_CLICK_MS)).toBe(false);
  });
  it("is counted from when the next comparison is on screen, however slow that was", () => {
    const last = said();
    last.drawn(3000);
    expect(last.isTwice(A, "two", 3000 + DOUBLE_CLICK_MS - 1)).toBe(true);
    const next = said();
    next.drawn(3000);
    expect(next.isTwice(A, "two", 3000 + DOUBLE_CLICK_MS)).toBe(false);
    const none = new LastSaid();
    none.drawn(3000);
    expect(none.isTwice(A, "one", 3001)).toBe(false);
  });
  it("is followed by a third", () => {
    const last = said();
    expect(last.isTwice(A, "two", 1300)).toBe(true);
    expect(last.isTwice(A, "two", 1600)).toBe(true);
    expect(last.isTwice(A, "two", 2000)).toBe(false);
  });
  it("is none if it says something else, or nothing was said before", () => {
    expect(said().isTwice(B, "two", 1001)).toBe(false);
    expect(new LastSaid().isTwice(A, "one", 0)).toBe(false);
  });
  it("is meant under the next criterion, unless a key bounces", () => {
    expect(said().isTwice(A, "one", 1000 + BOUNCE_MS)).toBe(false);
    expect(said().isTwice(A, "one", 1000 + BOUNCE_MS - 1)).toBe(true);
  });
  it("is meant after Undo", () => {
    const last = said();
    last.forget();
    expect(last.isTwice(A, "one", 1001)).toBe(false);
  });
});
