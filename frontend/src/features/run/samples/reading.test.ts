import { describe, expect, it } from "vitest";

import type { AnsweredSamples, AskedSamples } from "@/api/runs";

import {
  choicesAround,
  heldAfter,
  insteadOf,
  isAnswerTo,
  MOST_CHOICES,
  neighbour,
  newerThan,
  stepShown,
} from "./reading";

const NEWEST: AskedSamples = {
  ...{ kind: "rollout", step: null, prompt_id: null },
  ...{ q: "", every_step: false, sort: "order" },
};
const answer = (asked: AskedSamples, steps: number[], step: number | null): AnsweredSamples =>
  ({
    ...{ asked, steps, step, kind: asked.kind },
    ...{ kinds: ["rollout"], items: [{}] },
  }) as unknown as AnsweredSamples;
const FIVE = answer({ ...NEWEST, step: 5 }, [0, 5], 5);
const HELD = { kind: "rollout", step: 5 } as const;

describe("whoever reads the newest samples", () => {
  it("goes on with them when the run logs more", () => {
    expect(heldAfter(null, NEWEST, FIVE)).toEqual(HELD);
    expect(newerThan(HELD, FIVE)).toBeNull();
    expect(newerThan(HELD, answer({ ...NEWEST, step: 5 }, [0, 5, 10], 5))).toBe(10);
    expect(newerThan(HELD, answer({ ...NEWEST, step: 5 }, [0, 2], 5))).toBe(2);
  });
  it("holds no step that was asked for, of one prompt, of another kind, or of none", () => {
    expect(heldAfter(null, { ...NEWEST, step: 0 }, FIVE)).toBeNull();
    expect(heldAfter(HELD, { ...NEWEST, prompt_id: "p" }, FIVE)).toBe(HELD);
    expect(heldAfter(HELD, { ...NEWEST, every_step: true }, FIVE)).toBe(HELD);
    expect(heldAfter(null, NEWEST, answer(NEWEST, [], null))).toBeNull();
    expect(heldAfter(null, NEWEST, undefined)).toBeNull();
    expect(newerThan(HELD, answer({ ...NEWEST, kind: "probe" }, [0, 20], 20))).toBeNull();
  });
});

describe("a list that is shown until the next one is there", () => {
  it("is of the same kind, step and prompt, and has samples", () => {
    const asked = { ...NEWEST, step: 5 };
    expect(isAnswerTo(FIVE, { ...asked, q: "yes", sort: "-reward" })).toBe(true);
    expect(isAnswerTo({ ...FIVE, items: [] }, { ...asked, q: "" })).toBe(false);
    const others = [
      { step: 0 },
      { prompt_id: "p", step: null },
      { kind: "probe" },
      { every_step: true },
    ] as const;
    for (const other of others) expect(isAnswerTo(FIVE, { ...asked, ...other })).toBe(false);
  });
  it("does not take back the step that was asked for", () => {
    expect(stepShown(FIVE, { ...NEWEST, step: 10 })).toBe(10);
    expect(stepShown(FIVE, NEWEST)).toBe(5);
    expect(stepShown(FIVE, { ...NEWEST, kind: "probe" })).toBeNull();
  });
});

describe("a step without samples", () => {
  const PROBES = { ...NEWEST, kind: "probe", step: 25 } as const;
  const both = { kinds: ["rollout", "probe"] } as const;

  it("is answered with the nearest, which is said", () => {
    const nearest = answer({ ...NEWEST, step: 25 }, [1, 11, 21], 21);
    expect(insteadOf(nearest)).toBe(
      "No samples were logged at step 25: these are of step 21, the nearest that has some.",
    );
    expect(insteadOf({ ...nearest, ...both, kinds: [...both.kinds] })).toMatch(
      /^No samples of training were logged at step 25/,
    );
    expect(insteadOf(answer({ ...PROBES, step: 21 }, [0, 25], 25))).toMatch(/of step 25/);
    expect(stepShown(nearest, { ...NEWEST, step: 25 })).toBe(21);
  });
  it("is answered with the other kind where a run has none of this", () => {
    const other = { ...answer(PROBES, [1, 11, 21], 21), kind: "rollout" } as const;
    expect(insteadOf(other)).toBe(
      "This run has logged no held-out probes: these are samples of training of step 21, the nearest to step 25.",
    );
    expect(insteadOf({ ...other, step: 25 })).toMatch(
      /: these are samples of training of step 25\.$/,
    );
  });
  it("is not spoken of where the step has samples, or none was asked for", () => {
    expect(insteadOf(FIVE)).toBeNull();
    expect(insteadOf(answer(NEWEST, [0, 5], 5))).toBeNull();
    expect(insteadOf(answer({ ...NEWEST, prompt_id: "p" }, [0, 5], null))).toBeNull();
  });
});

describe("the steps to choose from", () => {
  const MANY = Array.from({ length: 2000 }, (_, place) => 10_000 + 2 * place);
  it("are all of a few", () => {
    expect(choicesAround([0, 4, 8], 4)).toEqual([0, 4, 8]);
    expect(choicesAround([], null)).toEqual([]);
  });
  it("are those around the one that is shown", () => {
    for (const shown of [10_000, 12_000, 13_998]) {
      const choices = choicesAround(MANY, shown);
      expect(choices).toHaveLength(MOST_CHOICES);
      expect(choices).toContain(shown);
    }
    expect(choicesAround(MANY, null).at(-1)).toBe(13_998);
  });
  it("have one that was typed at its place", () => {
    expect(choicesAround([0, 4, 8], 5)).toEqual([0, 4, 5, 8]);
    expect(choicesAround(MANY, 7).slice(0, 2)).toEqual([7, 10_000]);
  });
  it("lead on from a step that has no samples", () => {
    expect(neighbour(MANY, 7, "later")).toBe(10_000);
    expect(neighbour(MANY, 7, "earlier")).toBeNull();
    expect(neighbour([0, 4, 8], 5, "earlier")).toBe(4);
    expect(neighbour([0, 4, 8], 8, "later")).toBeNull();
    expect(neighbour([0, 4, 8], null, "earlier")).toBeNull();
  });
});
