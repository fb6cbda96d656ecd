import { expect, it } from "vitest";

import { afterEvent, NOTHING_TOLD } from "./told";

const points = (...values: (number | null)[]) => ({
  type: "metric" as const,
  data: { points: values.map((loss) => ({ values: { loss } })) },
});

it("adds values in order and keeps the newest", () => {
  const told = afterEvent(afterEvent(NOTHING_TOLD, points(3, 2)), points(1, null));
  expect(told.values).toEqual({ loss: [3, 2, 1, null] });
  expect(told.summary).toEqual({ loss: null });
});

it("keeps so many values at most", () => {
  const told = afterEvent(NOTHING_TOLD, points(...Array.from({ length: 500 }, (_, n) => n)));
  expect(told.values["loss"]).toHaveLength(200);
  expect(told.values["loss"]?.at(-1)).toBe(499);
});

it("knows how far the run is, and forgets all of it when it goes back", () => {
  const data = { step: 7, steps: 10, phase: "rollout", eta_s: 3, type: "progress" };
  const told = afterEvent(afterEvent(NOTHING_TOLD, points(1)), { type: "progress", data });
  expect(told.progress).toEqual({ step: 7, steps: 10, phase: "rollout", eta_s: 3 });
  expect(afterEvent(told, { type: "rewind", data: { step: 0 } })).toEqual(NOTHING_TOLD);
  expect(afterEvent(told, { type: "log", data: {} })).toBe(told);
});
