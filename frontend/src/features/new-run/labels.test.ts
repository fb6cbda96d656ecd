import { describe, expect, it } from "vitest";

import type { ExperimentSummary, Run } from "@/api/types";

import { labelsOf, tagsOf } from "./labels";

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
  it("read tags between commas, each once", () => {
    expect(tagsOf(" seed 1, baseline,, seed 1 ")).toEqual(["seed 1", "baseline"]);
    expect(tagsOf("")).toEqual([]);
  });
});
