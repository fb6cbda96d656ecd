import { describe, expect, it } from "vitest";

import type { ExperimentSummary, Run } from "@/api/types";

import { labelsOf, losesExperiment, tagsOf } from "./labels";

describe("the labels of a new run", () => {
  it("are empty without a parent", () => {
    expect(labelsOf(null, [])).toEqual({ experiment: "", tags: "", priority: "0" });
  });
  it("begin with the experiment that was asked for", () => {
    const known = [
      { id: "exp_a", name: "A" },
      { id: "exp_b", name: "B" },
    ] as ExperimentSummary[];
    const parent = { experiment_id: "exp_a", tags: [], priority: 0 } as unknown as Run;
    expect(labelsOf(parent, known).experiment).toBe("A");
    expect(labelsOf(parent, known, "exp_b").experiment).toBe("B");
    expect(labelsOf(parent, known, "exp_gone").experiment).toBe("");
  });
  it("know when the experiment of the parent is archived and so not offered", () => {
    const known = [{ id: "exp_a", name: "A" }] as ExperimentSummary[];
    const of = (experiment_id: string | null) => ({ experiment_id }) as Run;
    expect(losesExperiment(of("exp_old"), known)).toBe(true);
    expect(losesExperiment(of("exp_a"), known)).toBe(false);
    expect(losesExperiment(of(null), known)).toBe(false);
    expect(losesExperiment(null, known)).toBe(false);
  });
  it("read tags between commas, each once", () => {
    expect(tagsOf(" seed 1, baseline,, seed 1 ")).toEqual(["seed 1", "baseline"]);
    expect(tagsOf("")).toEqual([]);
  });
});
