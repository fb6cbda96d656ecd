import { describe, expect, it } from "vitest";

import type { RunEvent } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { explainer } from "@/components/metrics/explained";
import { bucketsAt, curveAt } from "@testing/curves";

import { besidesPoints, markersOf, rulerOf, type Placing } from "./markers";

const ORIGIN = 1_700_000_000;
const event = (seq: number, type: string, data: RunEvent["data"]): RunEvent => ({
  ...{ seq, type, data, created_at: new Date((ORIGIN + 10 * seq) * 1000).toISOString() },
});
const EVENTS = [
  event(1, "start", { attempt: 1, step: 0 }),
  event(2, "checkpoint", { step: 20, is_best: true }),
  event(3, "checkpoint", { step: 40, is_best: false }),
  event(4, "alert", { level: "warning", rule: "kl_max", message: "too far", step: 45 }),
  event(5, "rewind", { step: 20 }),
  event(6, "start", { attempt: 2, step: 20 }),
  event(7, "checkpoint", { step: 20, is_pinned: true }),
  event(8, "checkpoint", { step: 40, is_best: true }),
  event(9, "alert", { level: "warning", rule: "idle_gpus", message: "idle", step: null }),
];
const explain = explainer([]);
const BY_STEP: Placing = { axis: "step", origin: null, ruler: () => null };
const found = (placing: Placing, curves = new Map<string, Curve>(), events = EVENTS) =>
  markersOf(events, curves, explain, placing).map(({ kind, x }) => [kind, x]);

describe("what happened", () => {
  it("is marked at its step; what a resume made void is not", () => {
    expect(found(BY_STEP)).toEqual([
      ["resume", 20],
      ["checkpoint", 20],
      ["checkpoint", 40],
    ]);
  });
  it("is a note, not an alert, where nothing is wrong", () => {
    const told = (level: string) =>
      event(1, "alert", { level, rule: "best_checkpoint", message: "step 30", step: 45 });
    const of = (level: string) => found(BY_STEP, new Map(), [told(level)]);
    expect(of("info")).toEqual([["note", 45]]);
    expect(of("warning")).toEqual([["alert", 45]]);
    expect(of("error")).toEqual([["alert", 45]]);
  });
  it("is marked whatever the order in which it is told", () => {
    expect(found(BY_STEP, new Map(), EVENTS.toReversed())).toEqual(found(BY_STEP));
  });
  it("is marked on axes of time when it was told", () => {
    const relative = found({ ...BY_STEP, axis: "relative", origin: ORIGIN });
    expect(relative).toEqual([
      ["checkpoint", 20],
      ["resume", 60],
      ["checkpoint", 80],
    ]);
    expect(found({ ...BY_STEP, axis: "time" })[0]).toEqual(["checkpoint", ORIGIN + 20]);
    expect(found({ ...BY_STEP, axis: "relative" })).toEqual([]);
  });
  it("is marked on the axis of tokens between the steps that are known", () => {
    const ruler = rulerOf([10, 30, 50], [1000, 5000, 6000]);
    expect([0, 10, 20, 30, 40, 50, 51].map(ruler)).toEqual([
      1000,
      1000,
      3000,
      5000,
      5500,
      6000,
      null,
    ]);
    expect(found({ ...BY_STEP, axis: "tokens", ruler })[2]).toEqual(["checkpoint", 5500]);
  });
  it("counts an evaluation once, with what it measured, and no end of an interval", () => {
    const curves = new Map([
      ["eval/reward", curveAt([0, 50], [0.25, 0.5])],
      ["eval/reward_low", curveAt([0, 50], [0.2, 0.4])],
      ["eval/reward_high", curveAt([0, 50], [0.3, 0.6])],
      ["eval/length", curveAt([50], [12])],
      ["loss", curveAt([0, 50], [1, 2])],
    ]);
    const texts = markersOf([], curves, explain, BY_STEP).map(({ x, text }) => [x, text]);
    expect(texts).toEqual([
      [0, "Evaluated: eval/reward 0.250."],
      [50, "Evaluated: eval/reward 0.500, eval/length 12."],
    ]);
    const many = new Map([["eval/reward", bucketsAt([0], [0.5], 0.1)]]);
    expect(markersOf([], many, explain, BY_STEP)[0]?.text).toContain("several, zoom in");
  });
});

describe("an evaluation above a chart of evaluations", () => {
  const markers = (xs: readonly number[]) =>
    xs.map((x) => ({ kind: "evaluation" as const, x, text: "Evaluated." }));
  const left = (xs: readonly number[], of: Curve, isLog = false) =>
    besidesPoints(markers(xs), of, isLog).map(({ x }) => x);

  it("is marked unless it is a point of the chart already", () => {
    const lost = { ...curveAt([0, 50], [1, 2]), last: [1, null] };
    expect(left([0, 50, 75], lost)).toEqual([50, 75]);
    expect(left([0, 50], curveAt([0, 50], [-1, 2]), true)).toEqual([0]);
    const checkpoint = { kind: "checkpoint" as const, x: 0, text: "Saved." };
    expect(besidesPoints([checkpoint], curveAt([0], [1]), false)).toEqual([checkpoint]);
  });
  it("is marked where the points are too many to be drawn", () => {
    const steps = Array.from({ length: 101 }, (_, step) => step);
    expect(left(steps, curveAt(steps, steps))).toEqual(steps);
  });
});
