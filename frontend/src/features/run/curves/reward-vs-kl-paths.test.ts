import { describe, expect, it } from "vitest";

import type { Curve } from "@/charts/live-curves";
import { bucketsAt, curveAt } from "@testing/curves";

import { captionOf, NOTHING, pathsOf, shownOf } from "./reward-vs-kl-paths";

const TRAINED = {
  "reward/mean": curveAt([1, 2], [0, 1]),
  "kl/response": curveAt([1, 2], [0, -0.5]),
};
const EVALUATED = {
  "eval/reward": curveAt([0, 2], [0.25, 0.5]),
  "kl/exact": curveAt([0, 2], [0, 3]),
};
const CONFIG = { reward: { terms: [{ kind: "model" }, { kind: "knights", weight: 0 }] } };
const known = (more: Record<string, Curve>) =>
  new Map(Object.entries({ ...TRAINED, ...EVALUATED, ...more }));
const drawn = (more: Record<string, Curve>, asked: string | null = null) =>
  pathsOf({ config: CONFIG }, known(more), asked);

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
  it("has what is asked for in place of gold: a term that watches, what passed, a set", () => {
    const more = {
      ...{ "gold/reward": curveAt([2], [7]), "reward/knights": curveAt([1, 2], [0.2, 0.4]) },
      ...{ "eval/pass@1": curveAt([0, 2], [0.1, 0.3]), "eval/ood/reward": curveAt([2], [0.6]) },
    };
    const told = (asked: string | null) => {
      const paths = drawn(more, asked);
      const [, , third] = paths;
      const points = third?.points.map(({ step, kl, reward }) => [step, kl, reward]);
      return [
        shownOf({ config: CONFIG }, known(more), asked),
        third?.label,
        points,
        captionOf(paths),
      ];
    };
    expect(told("reward/knights")).toEqual([
      "reward/knights",
      "reward term knights",
      [
        [1, 0, 0.2],
        [2, -0.5, 0.4],
      ],
      expect.stringContaining("reward term knights has dots, too, in its own unit."),
    ]);
    expect(told("eval/pass@1").slice(0, 3)).toEqual([
      "eval/pass@1",
      "held-out pass@1",
      [
        [0, 0, 0.1],
        [2, 3, 0.3],
      ],
    ]);
    expect(told("eval/ood/reward")[3]).toContain("held-out, and ood: reward, in its own unit.");
    expect(told(NOTHING).slice(0, 2)).toEqual([NOTHING, undefined]);
    expect(told("loss")[0]).toBe("gold/reward");
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
