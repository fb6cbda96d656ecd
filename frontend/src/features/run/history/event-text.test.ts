import { describe, expect, it } from "vitest";

import type { JsonObject } from "@/api/types";

import { eventText } from "./event-text";

const said = (type: string, data: JsonObject) => eventText({ type, data });

describe("an event", () => {
  it("reads as a sentence, and what is long is folded", () => {
    const environment = { torch: "2.9", torch_build: ["a", "b"] };
    expect(said("start", { attempt: 1, step: 0, environment })).toEqual({
      tone: "active",
      text: "Attempt 1 begins.",
      details: environment,
    });
    expect(said("start", { attempt: 2, step: 1200, environment: {} })).toEqual({
      tone: "active",
      text: "Attempt 2 resumes after step 1,200.",
      details: null,
    });
  });
  it("tells who judged an evaluation from outside", () => {
    const judged = { judge: "three annotators", names: ["gold/win_rate", "gold/score"] };
    expect(said("judged", { ...judged, steps: [8, 1200] }).text).toBe(
      "gold/win_rate, gold/score at steps 8 to 1,200: judged by three annotators.",
    );
    expect(said("judged", { ...judged, steps: [8, 8] }).text).toBe(
      "gold/win_rate, gold/score at step 8: judged by three annotators.",
    );
    expect(said("judged", { ...judged, steps: [8, 1200], at: [8, 1200] }).text).toBe(
      "gold/win_rate, gold/score at steps 8 and 1,200: judged by three annotators.",
    );
    expect(said("judged", { ...judged, steps: [8, 1200], at: [8, 90, 1200] }).text).toBe(
      "gold/win_rate, gold/score at 3 steps from 8 to 1,200: judged by three annotators.",
    );
    expect(said("judged", { ...judged, judge: "", steps: [8, 8] }).text).toBe(
      "gold/win_rate, gold/score at step 8: attached again without a judge.",
    );
  });
  it("tells a state by its reason", () => {
    const state = (name: string, reason: string | null = null) =>
      said("state", { state: name, attempt: 1, reason, error: null }).text;
    expect(state("queued")).toBe("Queued; waits for a worker.");
    expect(state("queued", "retry")).toBe("Retried; waits for a worker.");
    expect(state("running")).toBe("A worker takes the run: attempt 1.");
    expect(state("stopping", "pause")).toBe(
      "Asked to pause: the run stops at its next safe point.",
    );
    expect(state("succeeded")).toBe("Finished; its results are stored.");
  });
  it("tells of a bad end the line that says most, and folds the rest", () => {
    const error = {
      cause: "bug",
      message: "Traceback (most recent call last):\n  f()\nKeyError: 3",
    };
    const failed = said("state", { state: "failed", attempt: 1, reason: null, error });
    expect(failed).toEqual({ tone: "bad", text: "Failed: KeyError: 3.", details: error });
    expect(said("state", { state: "crashed", attempt: 1, reason: null, error: null }).text).toBe(
      "Crashed.",
    );
  });
  it("tells what became of checkpoints and steps", () => {
    expect(said("checkpoint", { step: 40, is_best: true }).text).toBe(
      "Checkpoint of step 40 written, the best so far.",
    );
    expect(said("checkpoint", { step: 40, is_best: true, is_pinned: false }).text).toBe(
      "Checkpoint of step 40 unpinned.",
    );
    expect(said("rewind", { step: -1 }).text).toBe(
      "Went back to step 0; what the trainer had logged for later steps was removed.",
    );
    const alert = { rule: "kl_max", level: "warning", message: "kl/exact is 9", step: 8 };
    expect(said("alert", alert)).toMatchObject({
      tone: "warn",
      text: "KL limit exceeded (step 8): kl/exact is 9.",
    });
  });
  it("that a newer service tells is shown with all that is known of it", () => {
    expect(said("moved", { to: "elsewhere" })).toEqual({
      tone: "",
      text: "Moved.",
      details: { to: "elsewhere" },
    });
  });
});
