import { describe, expect, it } from "vitest";

import { fileName, partsOfRun } from "./file-name";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const ROCKET = "\u{1f680}";
/** The bold letter that text of mathematics has: four bytes, two units of UTF-16. */
const BOLD = "\u{1d400}";

describe("the name of a file", () => {
  it("has nothing that leads elsewhere or that a file system refuses", () => {
    expect(fileName(["../../etc: <run>", "reward/mean"], "csv")).toBe("etc- -run- reward-mean.csv");
    expect(fileName(["//"], "svg")).toBe("chart.svg");
    expect(fileName([ROCKET, "loss"], "svg")).toBe("loss.svg");
  });

  it("is whole while it is short, also in other scripts", () => {
    expect(fileName(["प्रयोग ४", "loss"], "svg")).toBe("प्रयोग ४ loss.svg");
    expect(fileName(["实验 4", "loss"], "svg")).toBe("实验 4 loss.svg");
  });

  it.each(["x", "é", "实", BOLD, "ि"])(
    "is short enough for %s, with the metric in full",
    (letter) => {
      const name = fileName([letter.repeat(200), "eval/held_out/reward", "distribution"], "png");
      expect(bytesOf(name)).toBeLessThanOrEqual(210);
      expect(name).toMatch(/ eval-held_out-reward distribution\.png$/);
      // No letter is cut into halves.
      expect(name).not.toMatch(/\p{Cs}/u);
    },
  );

  it("tells runs of one name apart, and says the same of a run each time", () => {
    const files = ["run_k7w2aaaaaaaaaaaaaaaa", "run_x3m9aaaaaaaaaaaaaaaa"].map((id) =>
      fileName([...partsOfRun({ id, name: "GRPO" }), "loss"], "csv"),
    );
    expect(files).toEqual(["GRPO run_k7w2 loss.csv", "GRPO run_x3m9 loss.csv"]);
    const long = { id: "run_k7w2aaaaaaaaaaaaaaaa", name: "x".repeat(300) };
    expect(fileName([...partsOfRun(long), "loss"], "csv")).toMatch(/ run_k7w2 loss\.csv$/);
  });

  it("tells long names apart by their ends, or by what was left out", () => {
    const sweep = "a sweep over everything ".repeat(10);
    const names = [
      fileName([`${sweep} seed 1`, "loss"], "csv"),
      fileName([`${sweep} seed 2`, "loss"], "csv"),
      fileName([`${sweep}x${sweep} seed 1`, "loss"], "csv"),
      fileName([`${sweep}y${sweep} seed 1`, "loss"], "csv"),
    ];
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toMatch(/^a sweep over .+….* seed 1 [a-z0-9]+ loss\.csv$/);
    expect(names[1]).toContain(" seed 2 ");
  });
});
