import { describe, expect, it } from "vitest";

import type { LiveEvent } from "@/api/stream/messages";

import { afterAnswer, afterEvent, grown, NOTHING_TOLD } from "./told";

/** Values of steps one after the other. */
const points = (first: number, ...values: (number | null)[]) => ({
  type: "metric" as const,
  data: { points: values.map((loss, place) => ({ step: first + place, values: { loss } })) },
});
const losses = (told: typeof NOTHING_TOLD) => told.values["loss"]?.map(({ value }) => value);

it("adds values in order and keeps the newest", () => {
  const told = afterEvent(afterEvent(NOTHING_TOLD, points(1, 3, 2)), points(3, 1, null));
  expect(told.values["loss"]?.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  expect(losses(told)).toEqual([3, 2, 1, null]);
  expect(told.summary).toEqual({ loss: null });
});

it("keeps so many values at most", () => {
  const told = afterEvent(NOTHING_TOLD, points(0, ...Array.from({ length: 500 }, (_, n) => n)));
  expect(told.values["loss"]).toHaveLength(200);
  expect(told.values["loss"]?.at(-1)).toEqual({ step: 499, value: 499 });
});

it("knows how far the run is, and forgets all of it when it goes back", () => {
  const data = { step: 7, steps: 10, phase: "rollout", eta_s: 3, type: "progress" };
  const told = afterEvent(afterEvent(NOTHING_TOLD, points(1, 1)), { type: "progress", data });
  expect(told.progress).toEqual({ step: 7, steps: 10, phase: "rollout", eta_s: 3 });
  expect(afterEvent(told, { type: "rewind", data: { step: 0 } })).toEqual(NOTHING_TOLD);
  expect(afterEvent(told, { type: "log", data: {} })).toBe(told);
});

it("gives way to an answer about the run, but for what was told since it was asked for", () => {
  const before = afterEvent(NOTHING_TOLD, points(1, 3, 2));
  const since = points(3, 1) as unknown as LiveEvent;
  expect(afterAnswer(before, []).summary).toEqual({});
  const told = afterAnswer(afterEvent(before, since), [since]);
  expect(told.summary).toEqual({ loss: 1 });
  expect(losses(told)).toEqual([3, 2, 1]);
});

describe("a trend", () => {
  const trend = (end: number | null, ...values: number[]) =>
    ({ name: "loss", title: "training loss", values, end, interval: null }) as const;
  const told = afterEvent(NOTHING_TOLD, points(3, 0.3, null, 0.5)).values;

  it("grows by what was told beyond its end alone", () => {
    expect(grown(trend(2, 0.1, 0.2), told).values).toEqual([0.1, 0.2, 0.3, 0.5]);
    expect(grown(trend(4, 0.1, 0.2, 0.3), told).values).toEqual([0.1, 0.2, 0.3, 0.5]);
    expect(grown(trend(5, 0.1, 0.2, 0.3, 0.5), told).values).toEqual([0.1, 0.2, 0.3, 0.5]);
  });
  it("is all that was told before its curve is there, and nothing of other metrics", () => {
    expect(grown(trend(null), told).values).toEqual([0.3, 0.5]);
    expect(grown({ ...trend(2, 0.1), name: "reward/mean" }, told).values).toEqual([0.1]);
  });
});
