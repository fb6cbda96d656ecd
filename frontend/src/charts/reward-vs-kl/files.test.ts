import { describe, expect, it } from "vitest";

import { fileName } from "@/lib/files/file-name";

import type { Path } from "./path";
import { nameOf, titleOf } from "./files";

const path = (label: string): Path => ({
  ...{ id: label, label, colour: "--s1", isEvaluated: false, points: [] },
});
const OF_RUN = [path("training"), path("held-out")];

describe("a saved picture of reward against KL", () => {
  it("says whose it is: the paths of every run are called alike", () => {
    const shown = { of: ["GRPO, seed 1", "run_k7w2"], paths: OF_RUN };
    expect(fileName(nameOf(shown), "svg")).toBe(
      "GRPO- seed 1 run_k7w2 reward vs KL training held-out.svg",
    );
    expect(titleOf(shown)).toBe("GRPO, seed 1 run_k7w2: Reward vs KL: training, held-out");
  });
  it("has a name of its own where others are called alike", () => {
    const shown = { of: ["A: GRPO"], apart: "x1", paths: [path("A")] };
    expect(fileName(nameOf(shown), "csv")).toBe("A- GRPO x1 reward vs KL A.csv");
    expect(titleOf(shown)).toBe("A: GRPO: Reward vs KL: A");
  });
  it("does not name the runs behind a mean", () => {
    const faint = { ...path("A seed 1"), isFaint: true };
    expect(titleOf({ of: ["A: GRPO"], paths: [faint, path("A")] })).toBe(
      "A: GRPO: Reward vs KL: A",
    );
  });
  it("says what it is even of a run with a long name", () => {
    const shown = { of: ["\u{1f680} long name ".repeat(20)], paths: OF_RUN };
    expect(fileName(nameOf(shown), "png")).toMatch(/ reward vs KL training held-out\.png$/);
  });
});
