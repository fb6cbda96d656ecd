import { describe, expect, it } from "vitest";

import type { Curve } from "@/charts/live-curves";
import { bucketsAt, curveAt } from "@testing/curves";

import { captionOf, pathsOf } from "./reward-vs-kl-paths";

const TRAINED = {
  "reward/mean": curveAt([1, 2], [0, 1]),
  "kl/response": curveAt([1, 2], [0, -0.5]),
};
const EVALUATED = {
  "eval/reward": curveAt([0, 2], [0.25, 0.5]),
  "kl/exact": curveAt([0, 2], [0, 3]),
};
const drawn = (known: Record<string, Curve>) =>
  pathsOf({ config: {} }, new Map(Object.entries({ ...TRAINED, ...EVALUATED, ...known })));

describe("reward against KL of a run", () => {
  it("is that of training and that of evaluations", () => {
    const paths = drawn({});
    expect(
      paths.map(({ label, points }) => [label, points.map(({ step, kl }) => [step, kl])]),
    ).toEqual([
      [
        "training",
        [
          [1, 0],
          [2, -0.5],
        ],
      ],
      [
        "held-out",
        [
          [0, 0],
          [2, 3],
        ],
      ],
    ]);
    expect(captionOf(paths)).toContain(
      "Each dot is a training step; later ones are darker. Rings are held-out evaluations.",
    );
  });
  it("has the gold that decides, with its interval, by the KL that was measured at its steps", () => {
    const ends = { "gold/reward_low": curveAt([2], [6]), "gold/reward_high": curveAt([2], [8]) };
    const paths = drawn({ "gold/a": curveAt([2], [1]), "gold/reward": curveAt([2], [7]), ...ends });
    expect(paths[2]?.label).toBe("gold reward");
    expect(paths[2]?.points).toEqual([{ step: 2, kl: 3, reward: 7, low: 6, high: 8 }]);
    expect(captionOf(paths)).toContain(
      "held-out, and gold reward as it was attached, in its own unit.",
    );
    expect(drawn({ "gold/reward": curveAt([1], [7]) })[2]?.points[0]?.kl).toBe(0);
  });
  it("says that gold has no place where no KL was measured", () => {
    const paths = drawn({ "gold/reward": curveAt([5], [7]) });
    expect(captionOf(paths)).toContain(
      "gold reward has none, because no KL was measured at its steps",
    );
  });
  it("says of a long run that a dot is a mean", () => {
    const [x, values] = [
      [511, 1023],
      [1, 2],
    ];
    const long = {
      "reward/mean": bucketsAt(x, values, 0, 512),
      "kl/response": bucketsAt(x, values, 0, 512),
    };
    expect(captionOf(drawn(long))).toContain("Each dot is the mean of up to 512 training steps;");
  });
});
