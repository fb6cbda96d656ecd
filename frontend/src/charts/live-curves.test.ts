import { describe, expect, it } from "vitest";

import {
  LiveCurves,
  curveOf,
  type Answered,
  type Axis,
  type Point,
  type Zoom,
} from "./live-curves";

const point = (step: number, loss = step): Point => ({
  step,
  tokens: step * 100,
  time: 1000 + step,
  values: { loss },
});

/** The loss at these steps, as a server answers it: half the step, in numbers of unit 0.5. */
function answerOf(steps: number[], origin = 0): Answered[] {
  const y = { low: 0, unit: 0.5, min: steps, max: steps, mean: steps, last: steps };
  const counts = { n: steps.length, n_points: steps.map(() => 1), n_nan: steps.map(() => 0) };
  const ends = { first: (steps[0] ?? 0) / 2, newest: (steps.at(-1) ?? 0) / 2 };
  return [{ name: "loss", x: steps, ...counts, origin, ...ends, y }];
}

/** Curves whose requests the test answers one by one, in any order. */
function curvesUnderTest(axis: Axis = "step") {
  const asked: {
    zoom: Zoom;
    answer: (series: Answered[]) => void;
    fail: (problem: Error) => void;
  }[] = [];
  let changes = 0;
  const curves = new LiveCurves(
    axis,
    (zoom) => new Promise((answer, fail) => asked.push({ zoom, answer, fail })),
    () => (changes += 1),
  );
  const steps = () => curves.curves.get("loss")?.x ?? [];
  return { asked, curves, steps, changes: () => changes };
}

/** Lets everything that was answered go through. */
const settle = () => new Promise((done) => setTimeout(done));

describe("curves that are loaded while they grow", () => {
  it("follow their run by what the stream tells, and leave the rest to others", async () => {
    const { asked, curves, steps, changes } = curvesUnderTest();
    // As the stream calls them, without the curves before them.
    const { onJoin, onEvent } = curves;
    onJoin();
    onEvent({ type: "metric", data: { points: [point(5), point(6)] } });
    asked[0]?.answer(answerOf([1, 2]));
    await settle();
    expect(steps()).toEqual([1, 2, 5, 6]);
    const before = changes();
    curves.onEvent({ type: "log", data: { text: "a line" } });
    expect(changes()).toBe(before);
    curves.onEvent({ type: "rewind", data: { step: 5 } });
    expect([steps(), changes() > before]).toEqual([[1, 2, 5], true]);
    curves.onEvent({ type: "reset", data: {} });
    asked[1]?.answer(answerOf([1]));
    await settle();
    expect(steps()).toEqual([1]);
  });
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

  it("keep why a load failed while they are loaded again, and say that they are", async () => {
    const { asked, curves, changes } = curvesUnderTest();
    void curves.load();
    asked[0]?.fail(new Error("away"));
    await settle();
    expect([curves.error, curves.isAsking]).toEqual([new Error("away"), false]);

    const before = changes();
    void curves.load();
    expect([curves.error, curves.isAsking]).toEqual([new Error("away"), true]);
    expect(changes()).toBe(before + 1);
    asked[1]?.answer(answerOf([1]));
    await settle();
    expect([curves.error, curves.isAsking]).toEqual([null, false]);
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
    expect(curves.curves.get("loss")?.last).toEqual([0.5, 1, 30]);
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
    curves.end();

    asked[0]?.answer(answerOf([1]));
    await curves.load();

    expect([asked.length, steps(), changes()]).toEqual([1, [], 0]);
  });

  it("drop what a rewind voids, and grow again from there", async () => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    asked[0]?.answer([]);
    await settle();
    for (const step of [1, 2, 3, 4]) curves.append(point(step));

    curves.rewind(2);
    curves.append(point(3, 30));

    expect(steps()).toEqual([1, 2, 3]);
    expect(curves.curves.get("loss")?.last).toEqual([1, 2, 30]);
  });

  it("keep what came from outside when a rewind voids what the trainer said", async () => {
    const { asked, curves, steps } = curvesUnderTest();
    void curves.load();
    asked[0]?.answer([]);
    await settle();
    for (const step of [1, 4]) curves.append(point(step));
    curves.append({ ...point(4), values: { "gold/score": 0.5 } });

    curves.rewind(2);

    expect(steps()).toEqual([1]);
    expect(curves.curves.get("gold/score")?.x).toEqual([4]);
  });

  it("keep x ascending and unique whatever comes, and gaps as gaps", async () => {
    const { asked, curves } = curvesUnderTest("tokens");
    void curves.load();
    asked[0]?.answer([]);
    await settle();
    for (const step of [3, 1, 2, 3, 5, 4]) curves.append(point(step));
    curves.append({ ...point(6), values: { loss: null } });

    const curve = curves.curves.get("loss");
    expect([curve?.x, curve?.last, curve?.nNan]).toEqual([
      [300, 500, 600],
      [3, 5, null],
      [0, 0, 1],
    ]);
  });

  it("count relative time from where the server does", async () => {
    const { asked, curves, steps } = curvesUnderTest("relative");
    void curves.load();
    asked[0]?.answer(answerOf([0, 1], 1000));
    await settle();

    curves.append(point(5));

    expect(steps()).toEqual([0, 1, 5]);
  });
});

describe("curves of a page that stays open", () => {
  const steps = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => from + n);
  const tell = (curves: LiveCurves, from: number, to: number) =>
    curves.onEvent({ type: "metric", data: { points: steps(from, to).map((n) => point(n)) } });
  /** Curves of which 2,000 points were told after the answer. */
  async function long(zoom: Zoom = null) {
    const found = curvesUnderTest();
    await found.curves.zoomTo(zoom);
    void found.curves.load();
    found.asked[0]?.answer(answerOf([0]));
    await settle();
    found.asked[1]?.answer(answerOf([2]));
    await settle();
    tell(found.curves, 1, 2000);
    return found;
  }

  it("are summed up anew after 2,000 points, and grow on until that is here", async () => {
    const { asked, curves, steps } = await long();
    expect(asked).toHaveLength(1);

    tell(curves, 2001, 2001);
    expect([asked.length, curves.isLoaded, curves.isAsking]).toEqual([2, true, false]);
    tell(curves, 2002, 2003);
    expect([steps().length, steps().at(-1)]).toEqual([2004, 2003]);
    expect(asked).toHaveLength(2);

    asked[1]?.answer(answerOf([1000, 2001]));
    await settle();
    expect(steps()).toEqual([1000, 2001, 2002, 2003]);
  });

  it("stay as they are where that fails, say nothing of it, and ask again at the next point", async () => {
    const { asked, curves, steps } = await long();
    tell(curves, 2001, 2001);
    asked[1]?.fail(new Error("too much"));
    await settle();
    expect([curves.error, steps().at(-1), asked.length]).toEqual([null, 2001, 2]);

    tell(curves, 2002, 2002);
    expect([curves.error, steps().at(-1), asked.length]).toEqual([null, 2002, 3]);
    asked[2]?.answer(answerOf([1000, 2002]));
    await settle();
    tell(curves, 2003, 2003);
    expect([steps(), asked.length]).toEqual([[1000, 2002, 2003], 3]);
  });

  it("are loaded once more if a rewind voids what is on its way", async () => {
    const { asked, curves, steps } = await long();
    tell(curves, 2001, 2001);
    curves.rewind(1500);
    tell(curves, 1501, 1501);
    asked[1]?.answer(answerOf([2001]));
    asked[2]?.answer(answerOf([1500]));
    await settle();

    expect(steps()).toEqual([1500, 1501]);
  });

  const gold = (step: number, value: number) => ({
    ...{ type: "metric" },
    data: { points: [{ ...point(step), values: { "gold/score": value } }] },
  });

  it("are loaded anew where somebody attaches what belongs between points that are here", async () => {
    const answered = (...values: number[]) => [
      { ...(answerOf([10, 20])[0] as Answered), name: "gold/score" },
      ...answerOf(values),
    ];
    const { asked, curves } = curvesUnderTest();
    void curves.load();
    asked[0]?.answer(answered(1));
    await settle();
    curves.onEvent(gold(30, 1));
    expect(asked).toHaveLength(1);

    curves.onEvent(gold(10, 7));
    curves.onEvent(gold(20, 8));
    expect(asked).toHaveLength(2);
    // The second came while the answer was on its way, which may be without it.
    asked[1]?.answer(answered(2));
    await settle();
    expect(asked).toHaveLength(3);
    asked[2]?.answer(answered(3));
    await settle();
    expect([asked.length, curves.curves.get("loss")?.x]).toEqual([3, [3]]);

    // What the trainer says again says nothing new.
    curves.onEvent({ type: "metric", data: { points: [point(2)] } });
    expect(asked).toHaveLength(3);
  });

  it("have a value that somebody replaced at the next point if they could not be loaded anew", async () => {
    const of = (score: number) => [{ ...(answerOf([score])[0] as Answered), name: "gold/score" }];
    const { asked, curves } = curvesUnderTest();
    void curves.load();
    asked[0]?.answer(of(10));
    await settle();
    curves.onEvent(gold(10, 7));
    expect(asked).toHaveLength(2);
    for (const place of [1, 2]) {
      asked[place]?.fail(new Error("away"));
      await settle();
      expect([curves.error, asked.length]).toEqual([null, place + 1]);
      tell(curves, place, place);
    }
    asked[3]?.answer(of(14));
    await settle();
    tell(curves, 3, 3);
    expect([curves.curves.get("gold/score")?.last, asked.length]).toEqual([[7], 4]);
  });

  it("are looked at closely again where the reader is zoomed in", async () => {
    const { asked, curves, steps } = await long([1, 3]);
    tell(curves, 2001, 2001);
    asked[2]?.answer(answerOf([0, 1000, 2001]));
    await settle();
    expect(asked[3]?.zoom).toEqual([1, 3]);
    asked[3]?.answer(answerOf([2]));
    await settle();

    expect(steps()).toEqual([0, 2, 1000, 2001]);
  });
});

describe("a closer look", () => {
  /** Curves of every tenth step up to 100, loaded. */
  async function loaded() {
    const found = curvesUnderTest();
    void found.curves.load();
    found.asked[0]?.answer(answerOf([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]));
    await settle();
    return found;
  }

  it("asks for what is shown, and keeps the old until the new is there", async () => {
    const { asked, curves, steps } = await loaded();
    const before = steps();

    void curves.zoomTo([25, 35]);
    expect([asked[1]?.zoom, steps()]).toEqual([[25, 35], before]);
    asked[1]?.answer(answerOf([26, 28, 30, 32]));
    await settle();

    expect(steps()).toEqual([10, 20, 26, 28, 30, 32, 40, 50, 60, 70, 80, 90, 100]);
    await curves.zoomTo(null);
    expect(steps()).toEqual(before);
  });

  it("knows the first and the newest value of all, and those of the part", async () => {
    const { asked, curves } = await loaded();
    const ends = () => {
      const { ends, part } = curves.curves.get("loss") ?? {};
      return [ends, part];
    };
    expect(ends()).toEqual([{ n: 10, first: 5, newest: 50 }, null]);

    void curves.zoomTo([25, 104]);
    curves.append(point(101, 70));
    asked[1]?.answer(answerOf([26, 28, 100]));
    await settle();
    expect(ends()).toEqual([
      { n: 11, first: 5, newest: 70 },
      { n: 4, first: 13, newest: 70 },
    ]);
    curves.append(point(104, 80));
    curves.append({ ...point(105), values: { loss: null } });
    expect(ends()).toEqual([
      { n: 13, first: 5, newest: 80 },
      { n: 5, first: 13, newest: 80 },
    ]);
    await curves.zoomTo(null);
    curves.rewind(30);
    expect(ends()).toEqual([{ n: 3, first: 5, newest: 15 }, null]);
    curves.rewind(0);
    curves.append(point(1, 9));
    expect(ends()).toEqual([{ n: 1, first: 9, newest: 9 }, null]);
  });

  it("shows the newest of two, whichever answer comes first", async () => {
    const { asked, curves, steps } = await loaded();
    void curves.zoomTo([25, 35]);
    void curves.zoomTo([61, 69]);
    asked[2]?.answer(answerOf([62, 68]));
    await settle();
    asked[1]?.answer(answerOf([26, 28]));
    await settle();

    expect(steps()).toEqual([10, 20, 30, 40, 50, 60, 62, 68, 70, 80, 90, 100]);
  });

  it("has what is told while it is fetched and after, once", async () => {
    const { asked, curves, steps } = await loaded();
    void curves.zoomTo([85, 200]);
    curves.append(point(101));
    curves.append(point(102));
    asked[1]?.answer(answerOf([86, 90, 95, 100, 101]));
    await settle();
    curves.append(point(103));

    expect(steps().slice(-8)).toEqual([80, 86, 90, 95, 100, 101, 102, 103]);
  });

  it("keeps why it failed while it is tried again, and says that it is", async () => {
    const { asked, curves, changes } = await loaded();
    const said = () => [curves.error, curves.isAsking];
    void curves.zoomTo([25, 35]);
    expect(said()).toEqual([null, true]);
    asked[1]?.fail(new Error("away"));
    await settle();
    expect(said()).toEqual([new Error("away"), false]);

    // Everything is loaded anew, then the part.
    void curves.load();
    asked[2]?.answer(answerOf([10, 20, 30, 40]));
    await settle();
    expect(said()).toEqual([new Error("away"), true]);
    const before = changes();
    asked[3]?.answer(answerOf([26, 28, 30, 32]));
    await settle();
    expect(said()).toEqual([null, false]);
    expect(changes()).toBe(before + 1);
  });

  it("forgets why it failed where the reader looks elsewhere", async () => {
    const { asked, curves } = await loaded();
    for (const elsewhere of [[61, 69], null] as const) {
      void curves.zoomTo([25, 35]);
      asked.at(-1)?.fail(new Error("away"));
      await settle();
      expect(curves.error).toEqual(new Error("away"));
      void curves.zoomTo(elsewhere);
      expect([curves.error, curves.isAsking]).toEqual([null, elsewhere !== null]);
    }
    // The answer to a part that is no longer shown says nothing either.
    void curves.zoomTo([25, 35]);
    void curves.zoomTo(null);
    asked.at(-1)?.fail(new Error("too late"));
    await settle();
    expect([curves.error, curves.isAsking]).toEqual([null, false]);
  });

  it("forgets a part that is on its way where the reader looks elsewhere during a load", async () => {
    const { asked, curves } = await loaded();
    void curves.zoomTo([25, 35]);
    void curves.load();
    void curves.zoomTo([61, 69]);
    asked[1]?.fail(new Error("too late"));
    await settle();
    expect([curves.error, curves.isAsking]).toEqual([null, true]);
  });

  it("asks again after a rewind", async () => {
    const { asked, curves, steps } = await loaded();
    void curves.zoomTo([85, 200]);
    asked[1]?.answer(answerOf([86, 90, 95, 100]));
    await settle();

    curves.rewind(92);
    expect(steps().slice(-3)).toEqual([80, 86, 90]);
    expect(asked).toHaveLength(3);
    asked[2]?.answer(answerOf([86, 90, 92]));
    await settle();
    expect(steps().slice(-4)).toEqual([80, 86, 90, 92]);
  });
});

it("turns the server's numbers into values", () => {
  const numbers = [0, 4096, null, 8192];
  const y = { low: -1, unit: 2 / 8192, min: numbers, max: numbers, mean: numbers, last: numbers };

  const counts = { n: 10, n_points: [1, 1, 7, 1], n_nan: [0, 0, 7, 0] };

  const curve = curveOf({ x: [1, 2, 3, 4], ...counts, first: -1, newest: 1, y });

  expect([curve.min, curve.last]).toEqual([
    [-1, 0, null, 1],
    [-1, 0, null, 1],
  ]);
});
