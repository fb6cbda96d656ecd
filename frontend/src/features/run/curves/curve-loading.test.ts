import { describe, expect, it } from "vitest";

import type { Axis, Bucketed, Point } from "@/charts/live-series";

import { CurveLoading } from "./curve-loading";

const point = (step: number, loss = step): Point => ({
  step,
  tokens: step * 100,
  time: 1000 + step,
  values: { loss },
});

/** The loss at these steps, as a server answers it. */
function answerOf(steps: number[]): Bucketed[] {
  const [min, max, mean, last] = [[...steps], [...steps], [...steps], [...steps]];
  return [{ name: "loss", x: steps, min, max, mean, last }];
}

/** Curves whose requests the test answers one by one, in any order. */
function curvesUnderTest(axis: Axis = "step") {
  const asked: { answer: (series: Bucketed[]) => void; fail: (problem: Error) => void }[] = [];
  let changes = 0;
  const curves = new CurveLoading(
    axis,
    () => new Promise((answer, fail) => asked.push({ answer, fail })),
    () => (changes += 1),
  );
  const steps = () => curves.live.curves.get("loss")?.x ?? [];
  return { asked, curves, steps, changes: () => changes };
}

/** Lets everything that was answered go through. */
const settle = () => new Promise((done) => setTimeout(done));

describe("curves that are loaded while they grow", () => {
  it("keep points that come while the answer is on its way", async () => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    for (const step of [3, 4]) curves.append(point(step));

    asked[0]?.answer(answerOf([1, 2, 3]));
    await settle();
    curves.append(point(5));

    expect(steps()).toEqual([1, 2, 3, 4, 5]);
    expect(curves.isLoaded).toBe(true);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])("follow the newest of two loads, answer %i first", async (first, second) => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    curves.append(point(3));
    void curves.load();
    curves.append(point(5));
    const answers = [answerOf([1, 2]), answerOf([1, 2, 3, 4])];

    for (const place of [first, second]) {
      asked[place]?.answer(answers[place] ?? []);
      await settle();
    }
    curves.append(point(6));

    expect(asked).toHaveLength(2);
    expect(steps()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("say nothing of a load that failed when there is a newer one", async () => {
    const { asked, curves, changes } = curvesUnderTest();
    void curves.load();
    void curves.load();

    asked[0]?.fail(new Error("too old"));
    await settle();

    expect([curves.error, changes()]).toEqual([null, 0]);
  });

  it("say that the newest load failed, until one succeeds", async () => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    asked[0]?.fail(new Error("away"));
    await settle();
    expect(curves.error).toEqual(new Error("away"));

    void curves.load();
    asked[1]?.answer(answerOf([1]));
    await settle();

    expect([curves.error, steps()]).toEqual([null, [1]]);
  });

  it("ask again when a rewind voids what is on its way", async () => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    curves.append(point(4));
    curves.rewind(2);
    curves.append(point(3, 30));

    asked[0]?.answer(answerOf([1, 2, 3, 4]));
    asked[1]?.answer(answerOf([1, 2]));
    await settle();

    expect(steps()).toEqual([1, 2, 3]);
    expect(curves.live.curves.get("loss")?.last).toEqual([1, 2, 30]);
  });

  it("rewind at once where x is the step, and ask anew elsewhere", async () => {
    for (const [axis, requests] of [
      ["step", 1],
      ["tokens", 2],
    ] as const) {
      const { asked, curves } = curvesUnderTest(axis);
      void curves.load();
      asked[0]?.answer(answerOf([1, 2, 3]));
      await settle();

      curves.rewind(2);

      expect(asked).toHaveLength(requests);
    }
  });

  it("change no more once closed", async () => {
    const { asked, curves, steps, changes } = curvesUnderTest();
    void curves.load();
    curves.close();

    asked[0]?.answer(answerOf([1]));
    await curves.load();

    expect([asked.length, steps(), changes()]).toEqual([1, [], 0]);
  });
});
