import { describe, expect, it } from "vitest";

import { labelsOf, tagsOf } from "./labels";

describe("the labels of a new run", () => {
  it("are empty without a parent", () => {
    expect(labelsOf(null, [])).toEqual({ experiment: "", tags: "", priority: "0" });
  });
  it("read tags between commas, each once", () => {
    expect(tagsOf(" seed 1, baseline,, seed 1 ")).toEqual(["seed 1", "baseline"]);
    expect(tagsOf("")).toEqual([]);
  });
});
