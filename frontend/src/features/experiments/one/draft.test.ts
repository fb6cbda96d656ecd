import { beforeEach, describe, expect, it, vi } from "vitest";

import { draftOf, dropDraft, dropSent, keepDraft } from "./draft";
import type { Texts } from "./texts";

const from: Texts = { name: "n", question: "q", hypothesis: "", conclusion: "", notes: "" };
const typed = { ...from, notes: "typed" };
const whose = ["user_a", "experiment_1"] as const;

/** What a browser keeps; Node has none. */
function storage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

beforeEach(() => vi.stubGlobal("localStorage", storage()));

describe("a draft", () => {
  it("is what was typed, with the revision that it was typed on", () => {
    keepDraft(whose, { typed, from, revision: 3 });
    expect(draftOf(whose)).toEqual({ typed, from, revision: 3 });
  });

  it("is seen by its author alone, on its experiment alone", () => {
    keepDraft(whose, { typed, from, revision: 3 });
    expect(draftOf(["user_b", "experiment_1"])).toBeNull();
    expect(draftOf(["user_a", "experiment_2"])).toBeNull();
  });

  it("is gone when it is dropped, or says nothing new", () => {
    keepDraft(whose, { typed, from, revision: 3 });
    keepDraft(whose, { typed: from, from, revision: 3 });
    expect(draftOf(whose)).toBeNull();
    keepDraft(whose, { typed, from, revision: 3 });
    dropDraft(whose);
    expect(draftOf(whose)).toBeNull();
  });

  it("of another version is none", () => {
    localStorage.setItem("podium.experiment.user_a.experiment_1", '{"typed": {}}');
    expect(draftOf(whose)).toBeNull();
  });

  it("is dropped when it was sent, unless more was typed since", () => {
    keepDraft(whose, { typed: { ...typed, question: "since" }, from, revision: 3 });
    dropSent(whose, typed);
    expect(draftOf(whose)?.typed.question).toBe("since");
    dropSent(whose, { ...typed, question: "since" });
    expect(draftOf(whose)).toBeNull();
  });
});
