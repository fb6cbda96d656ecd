import { describe, expect, it } from "vitest";

import type { Run } from "@/api/types";

import {
  canBeCancelled,
  mayMoveOn,
  noCheckpoints,
  noFiles,
  noLog,
  noMetrics,
  cancelPrompt,
  timeWords,
} from "./run-status";

const START = "2026-01-01T00:00:00Z";
const NOW = Date.parse("2026-01-01T01:00:00Z");

/** A run at step 500 of 1,000 in its first attempt, but for what is said otherwise. */
function run(state: Run["state"], other: Partial<Run> = {}): Run {
  const some: Partial<Run> = {
    state,
    state_sentence: "Where it stands.",
    stop_reason: null,
    attempt: 1,
    attempt_started_at: START,
    exit_code: null,
    allowed: ["cancel"],
    checkpoint_step: 400,
    pruned_at: null,
    finished_at: null,
    progress: { step: 500, steps: 1000, phase: "", eta_s: null },
    ...other,
  };
  return some as Run;
}

describe("the question before a run is stopped", () => {
  it("tells what happens to a run at work", () => {
    const { text, keep } = cancelPrompt(run("running"));
    expect(text).toContain(
      "The run is at step 500 of 1,000. If you cancel it, the trainer writes a checkpoint",
    );
    expect(keep).toBe("Keep it running");
  });

  it.each(["responses", "numbers"] as const)(
    "promises no checkpoint to a run that leaves %s",
    (result) => {
      const { text } = cancelPrompt(run("running", { result }));
      expect(text).toContain("The run is at step 500 of 1,000.");
      expect(text).toContain("Retry restarts it from the beginning.");
      expect(text).not.toContain("checkpoint");
      expect(noCheckpoints(run("running", { result }))).toContain("trains nothing");
    },
  );

  it("promises no checkpoint of a step that is not finished", () => {
    const progress = { step: 0, steps: 0, phase: "loading", eta_s: null };
    expect(cancelPrompt(run("running", { progress })).text).not.toContain("checkpoint");
  });

  it.each([
    ["queued", "The run waits for a worker at step 500 of 1,000."],
    ["paused", "The run is paused at step 500 of 1,000."],
    ["crashed", "The run crashed at step 500 of 1,000."],
  ] as const)("says of a %s run where it stands and where Retry goes on", (state, where) => {
    const { text, keep } = cancelPrompt(run(state));
    expect(text).toContain(where);
    expect(text).toContain("Retry resumes from its last checkpoint.");
    expect(keep).not.toContain("running");
    const without = cancelPrompt(run(state, { checkpoint_step: null })).text;
    expect(without).toContain("Retry restarts it from the beginning.");
  });

  it("says what cancelling changes of a crashed run that is retried, and of one that is not", () => {
    const told = (is_retried: boolean) => cancelPrompt(run("crashed", { is_retried })).text;
    expect(told(true)).toContain("If you cancel it, Podium does not retry it automatically.");
    expect(told(false)).toContain(
      "Podium does not retry it automatically. If you cancel it, it ends as cancelled; you can still retry it.",
    );
  });

  it("says of a run that stops for another reason how it ends instead", () => {
    const pausing = run("stopping", { stop_reason: "pause", state_sentence: "Pausing." });
    expect(cancelPrompt(pausing).text).toContain(
      "Pausing. If you cancel it, it ends as cancelled instead",
    );
  });

  it.each(["queued", "paused"] as const)("says of a %s run that never ran so", (state) => {
    const { text } = cancelPrompt(run(state, { attempt: 0, checkpoint_step: null }));
    expect(text).toBe(
      "The run has not started. If you cancel it, Retry puts it back into the queue.",
    );
  });

  it("is not asked of a run that is being cancelled", () => {
    expect(canBeCancelled(run("stopping", { stop_reason: "cancel" }))).toBe(false);
    expect(canBeCancelled(run("stopping", { stop_reason: "pause" }))).toBe(true);
    expect(canBeCancelled(run("failed", { allowed: ["retry"] }))).toBe(false);
  });
});

describe("the time of a run", () => {
  it.each(["running", "stopping"] as const)("counts while it is %s", (state) => {
    expect(timeWords(run(state), START, NOW)).toBe("running for 1 h");
  });

  it.each(["paused", "queued"] as const)("claims no running while it is %s", (state) => {
    expect(timeWords(run(state), START, NOW)).toBe("started 1 h ago");
  });

  const RETRIED = { attempt: 3, attempt_started_at: "2026-01-01T00:50:00Z" };

  it("does not count the wait before a later attempt as running", () => {
    expect(timeWords(run("running", RETRIED), START, NOW)).toBe("the last one running for 10 min");
    const before = run("running", { attempt: 3, attempt_started_at: null });
    expect(timeWords(before, START, NOW)).toBe("first started 1 h ago");
  });

  it("ends with the run", () => {
    const ended = run("crashed", { finished_at: "2026-01-01T00:05:00Z" });
    expect(timeWords(ended, START, NOW)).toBe("took 5 min");
  });

  it("is that of the last attempt where there are several", () => {
    const ended = { ...RETRIED, finished_at: "2026-01-01T00:55:00Z" };
    expect(timeWords(run("succeeded", ended), START, NOW)).toBe("the last one took 5 min");
    const unstarted = run("failed", { ...ended, attempt_started_at: null });
    expect(timeWords(unstarted, START, NOW)).toBe("ended 5 min ago");
  });

  it("does not count the wait of a run that was cancelled while it waited", () => {
    const ended = { finished_at: "2026-01-01T00:55:00Z" };
    expect(timeWords(run("cancelled", ended), START, NOW)).toBe("ended 5 min ago");
    expect(timeWords(run("cancelled", { ...ended, exit_code: 5 }), START, NOW)).toBe("took 55 min");
  });
});

describe("what a run without metrics or lines says", () => {
  const error = { cause: "data" as const, sentence: "", message: "", advice: "", changes: {} };

  it("sends nobody to an empty log if the message above says why", () => {
    const failed = run("failed", { error });
    expect(noMetrics(failed)).toBe(
      "The run ended before it reported a metric. The message above says why.",
    );
    expect(noLog(failed)).toBe(
      "The run ended before its trainer printed a line. The message above says why.",
    );
  });

  it("does not claim that an unexplained end is explained", () => {
    const crashed = run("crashed", { error: { ...error, cause: "unexplained" } });
    expect(noMetrics(crashed)).toContain("The message above says what is known of its end.");
  });

  it("has no reason to seek for a run that was cancelled", () => {
    const cancelled = run("cancelled", { error: null });
    expect(noMetrics(cancelled)).toBe("The run was cancelled before it reported a metric.");
    expect(noLog(cancelled)).toBe("The run was cancelled before it printed a line.");
  });
});

it("a crashed run is asked for again, for it may be tried again by itself", () => {
  expect((["queued", "crashed", "paused"] as const).map(mayMoveOn)).toEqual([true, true, true]);
  expect((["succeeded", "failed", "cancelled"] as const).map(mayMoveOn)).toEqual([
    false,
    false,
    false,
  ]);
});

it("a run without checkpoints tells when they are written or where they went", () => {
  expect(noCheckpoints(run("running", { result: "causal_lm" }))).toContain("checkpoint_every");
  expect(noCheckpoints(run("failed", { pruned_at: START }))).toContain("deleted");
});

describe("a run without files", () => {
  it("promises them until it has succeeded", () => {
    expect(noFiles(run("running", { result: "responses" }))).toContain("stored when the run");
  });

  it.each([
    ["responses", "responses"],
    ["numbers", "Results"],
    ["causal_lm", "deleted"],
    ["process_model", "deleted"],
  ] as const)("tells what became of the results of a run that leaves %s", (result, where) => {
    expect(noFiles(run("succeeded", { result }))).toContain(where);
  });
});
