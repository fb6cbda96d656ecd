import { describe, expect, it } from "vitest";

import { LiveSeries, type Point } from "./live-series";

const point = (step: number, value: number | null): Point => ({
  step,
  tokens: step * 100,
  time: 1000 + step,
  values: { loss: value },
});

describe("a live curve", () => {
  it("appends points after the server's buckets and skips what it has", () => {
    const live = new LiveSeries("step");
    live.load([{ name: "loss", x: [1, 2], min: [5, 4], max: [5, 4], mean: [5, 4], last: [5, 4] }]);
    for (const p of [point(2, 9), point(3, 3), point(3, 8)]) live.append(p);
    expect(live.curves.get("loss")?.x).toEqual([1, 2, 3]);
    expect(live.curves.get("loss")?.last).toEqual([5, 4, 3]);
  });

  it("keeps points that came while the server's answer was on its way", () => {
    const live = new LiveSeries("step");
    live.load(
      [{ name: "loss", x: [1], min: [5], max: [5], mean: [5], last: [5] }],
      [point(1, 7), point(2, 4)],
    );
    expect(live.curves.get("loss")?.last).toEqual([5, 4]);
  });

  it("drops what a rewind voids, and grows again from there", () => {
    const live = new LiveSeries("step");
    for (const step of [1, 2, 3, 4]) live.append(point(step, step));
    live.rewind(2);
    live.append(point(3, 30));
    expect(live.curves.get("loss")?.x).toEqual([1, 2, 3]);
    expect(live.curves.get("loss")?.last).toEqual([1, 2, 30]);
  });

  it("keeps x ascending and unique whatever comes", () => {
    const live = new LiveSeries("tokens");
    for (const step of [3, 1, 2, 3, 5, 4, 6]) live.append(point(step, step));
    expect(live.curves.get("loss")?.x).toEqual([300, 500, 600]);
  });

  it("keeps a non-finite value, sent as null, as a gap", () => {
    const live = new LiveSeries("step");
    live.append(point(1, null));
    expect(live.curves.get("loss")?.last).toEqual([null]);
  });
});
