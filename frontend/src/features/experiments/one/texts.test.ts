import { describe, expect, it } from "vitest";

import { changesOf, rebased, type Texts } from "./texts";

const texts = (more: Partial<Texts>): Texts => ({
  name: "n",
  question: "q",
  hypothesis: "h",
  conclusion: "",
  notes: "",
  ...more,
});

describe("what was typed while somebody was faster", () => {
  const from = texts({});
  const typed = texts({ conclusion: "mine", notes: "my notes" });
  const newest = texts({ question: "theirs", notes: "their notes" });

  it("keeps their fields and mine", () => {
    const now = rebased(typed, from, newest);
    expect(now).toEqual(texts({ question: "theirs", conclusion: "mine", notes: "my notes" }));
    expect(changesOf(now, newest)).toEqual({ conclusion: "mine", notes: "my notes" });
  });
  it("is sent without what nobody typed", () => {
    expect(changesOf(typed, from)).toEqual({ conclusion: "mine", notes: "my notes" });
    expect(changesOf(from, from)).toEqual({});
  });
});
