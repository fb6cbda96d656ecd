import { describe, expect, it } from "vitest";

import { waitedFor as told, type WaitedFor } from "./waited-for";

const progress = (more: Partial<Parameters<typeof waitedFor>[0]>) => ({
  ...{ mine: 3, mine_today: 3, done: 3, wanted: 4, available: 0 },
  ...{ open: 0, passed: 0, held: 0, held_by_others: 0 },
  ...more,
});

/** As a page is told that listens. */
const waitedFor = (...[now, unsent]: [Parameters<typeof told>[0], Parameters<typeof told>[1]]) =>
  told(now, unsent, true);
const lastLine = ({ lines }: WaitedFor) => lines.at(-1);

const WAY = { projectId: "p", userId: "u", submittedAt: 1, refusal: null };
const BODY = { tiers: [], unranked: [], verdict: "all_bad", comment: "", revise: false } as const;
const JUDGMENT = {
  ...WAY,
  assignmentId: "a",
  key: "1",
  body: { ...BODY, tiers: [], unranked: [] },
};
const SKIP = { ...WAY, assignmentId: "b", key: "2", skip: { reason: "other" } };

describe("who gets no comparison", () => {
  it("is told that all is done when no comparison wants a judgment", () => {
    const { title, isDone } = waitedFor(progress({ done: 4 }), []);
    expect([title, isDone]).toEqual(["All done: no comparison is left", true]);
  });
  it.each([
    ["a lease of somebody else", { open: 1, held_by_others: 1 }, /1 comparison is with other/],
    ["one's own lease elsewhere", { open: 2, held: 2 }, /You hold 2 comparisons in another tab/],
    ["somebody else's judgment", { open: 1, passed: 1 }, /1 comparison that you .* needs/],
  ])("is told that it is not, and that it waits for %s", (_, more, line) => {
    const { title, lines, isDone } = waitedFor(progress(more), []);
    expect([title, isDone]).toEqual(["Nothing for you right now", false]);
    expect(lines[0]).toMatch(line);
    expect(lines).toHaveLength(2);
  });
  it("is not told so while a judgment is on its way, whose lease is none elsewhere", () => {
    const { lines, isDone } = waitedFor(progress({ open: 1, held: 1 }), [JUDGMENT]);
    expect(isDone).toBe(false);
    expect(lines[0]).toBe("1 judgment of yours is not sent yet.");
    expect(lines).toHaveLength(2);
    const both = waitedFor(progress({ open: 2, held: 2 }), [JUDGMENT, SKIP]);
    expect(both.lines[0]).toBe("1 judgment and 1 skip of yours are not sent yet.");
    expect(both.lines).toHaveLength(2);
  });
  it("is told of what another device holds, though a revision is on its way, which has no lease", () => {
    const revision = { ...JUDGMENT, body: { ...JUDGMENT.body, revise: true } };
    const { lines, elsewhere } = waitedFor(progress({ open: 2, held: 2 }), [revision, SKIP]);
    expect(lines[1]).toMatch(/^You hold 1 comparison in another tab or on another device: rank/);
    expect(elsewhere).toBe(1);
  });
  it("is told that nothing has begun where there is no comparison", () => {
    const { title, isUnused } = waitedFor(progress({ wanted: 0 }), []);
    expect([title, isUnused]).toEqual(["There is nothing to rank yet", true]);
  });
  it.each([
    ["there is no comparison", progress({ wanted: 0 })],
    ["all is done", progress({ done: 4 })],
    ["others hold what is left", progress({ open: 1, held_by_others: 1 })],
  ])("is told how the page goes on, whether it still listens or not, where %s", (_, now) => {
    expect(lastLine(told(now, [], true))).toMatch(
      /^While this page is visible, it shows the next comparison as soon as .* five minutes .* it stops looking until you come back\.$/,
    );
    const stopped = lastLine(told(now, [], false));
    expect(stopped).toMatch(/has stopped looking, .*Press a key, tap or move the pointer: .*\.$/);
    expect(stopped).not.toMatch(/by itself/);
  });
});
