import { expect, it } from "vitest";

import { samplesAddress } from "./samples-address";

const policy = { logs_samples: true, result: "causal_lm", state: "running" } as const;
const evaluation = { logs_samples: true, result: "numbers", state: "succeeded" } as const;

it("leads to the samples of a step, or to the newest", () => {
  expect(samplesAddress(policy, "/runs/r", 40)).toBe("/runs/r/samples?step=40");
  expect(samplesAddress(policy, "/runs/r")).toBe("/runs/r/samples");
});

it("leads from an evaluation to its held-out prompts, which no step of training answers", () => {
  expect(samplesAddress(policy, "/runs/r", 25, "probe")).toBe("/runs/r/samples?kind=probe&step=25");
});

it("leads nowhere from a run whose method logs none", () => {
  expect(samplesAddress({ ...policy, logs_samples: false }, "/runs/r", 40)).toBeNull();
});

it("leads to the samples of a run that trains nothing when it has ended: it logs them once", () => {
  expect(samplesAddress(evaluation, "/runs/r", 0)).toBe("/runs/r/samples");
  for (const state of ["running", "failed"] as const)
    expect(samplesAddress({ ...evaluation, state }, "/runs/r")).toBeNull();
});
