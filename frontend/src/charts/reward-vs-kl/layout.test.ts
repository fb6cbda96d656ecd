import { describe, expect, it } from "vitest";

import { seededChance, type Chance } from "@/lib/seeded-chance";

import { boxOf, type Box } from "./labels";
import { layoutOf, namedOf, unnamedOf, type Asked } from "./layout";
import type { Path } from "./path";

const NAMES = [
  "A",
  "B training",
  "grpo-qwen2.5-1.5b-lr-1e-6-kl-0.05-seed",
  "实验",
  "\u{1f680} run",
];

/** Paths that often end near one another, as the runs of a sweep do. */
function generated(chance: Chance): Asked {
  const below = (n: number) => Math.floor(n * chance());
  const steps = 1 + below(40);
  const spread = chance();
  const paths = Array.from({ length: 1 + below(14) }, (_, place): Path => {
    const [gain, cost] = [1 + spread * chance(), 1 + spread * chance()];
    const isEvaluated = chance() < 0.5;
    const points = Array.from({ length: below(steps + 1) }, (_, step) => {
      const reward = gain * Math.log1p(step) + 0.1 * chance();
      const half = isEvaluated ? 0.3 * chance() : 0;
      const interval = { low: reward - half, high: reward + half };
      return { step, reward, ...interval, kl: cost * step - chance() };
    });
    const label = `${NAMES[below(NAMES.length)] ?? ""} ${place}`;
    const short = chance() < 0.5 ? { short: "A" } : {};
    const id = String(place);
    return { id, label, ...short, colour: "--s1", points, isEvaluated, isFaint: chance() < 0.2 };
  });
  const [width, height] = [240 + below(1000), 200 + below(300)];
  return { paths, width, height, isRoot: chance() < 0.5, reward: "Held-out reward" };
}

const isOver = (one: Box, other: Box) =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.1 &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.1;

describe("labels of any paths in a picture of any size", () => {
  const chance = seededChance(11);
  const pictures = Array.from({ length: 250 }, () => generated(chance)).filter(({ paths }) =>
    paths.some(({ points }) => points.length > 0),
  );

  it("cover no point, no interval, no other label and not the name of the axis, and stay inside", () => {
    for (const asked of pictures) {
      const { X, Y, labels } = layoutOf(asked);
      const drawn = asked.paths.flatMap(({ points, isEvaluated, isFaint }) =>
        points.flatMap((point) => {
          // The radius of the circle with half its line, as it is drawn.
          const r = !isEvaluated ? 3 : isFaint ? 3.6 : 5.5;
          const [x, y] = [X(point), Y(point.reward)];
          const ends = { top: Y(point.high), bottom: Y(point.low) };
          return [
            { left: x - r, right: x + r, top: y - r, bottom: y + r },
            { left: x - 0.75, right: x + 0.75, ...ends },
          ];
        }),
      );
      const axis = { left: 4, right: 4 + 15 * 6.6, top: 2, bottom: 15 };
      const boxes = labels.map(boxOf);
      boxes.forEach((box, place) => {
        const others = [axis, ...drawn, ...boxes.slice(0, place)];
        expect(others.filter((other) => isOver(box, other))).toEqual([]);
        expect(box.left).toBeGreaterThan(51);
        expect(box.right).toBeLessThan(asked.width);
        expect(box.top).toBeGreaterThanOrEqual(0);
        expect(box.bottom).toBeLessThanOrEqual(asked.height - 39);
      });
    }
  });

  it("are those of all paths but the few that have no room, which are known", () => {
    let [wanted, left] = [0, 0];
    for (const asked of pictures) {
      const layout = layoutOf(asked);
      const drawn = new Set(layout.labels.map(({ path }) => path));
      const named = namedOf(asked.paths);
      const unnamed = new Set(unnamedOf(asked.paths, layout));
      expect(named.filter((path) => !drawn.has(path) && !unnamed.has(path))).toEqual([]);
      for (const { path, text } of layout.labels)
        expect(unnamed.has(path)).toBe(!text.endsWith(path.label));
      wanted += named.length;
      left += named.length - drawn.size;
    }
    expect(wanted).toBeGreaterThan(500);
    expect(left / wanted).toBeLessThan(0.2);
  });
});

it("begins labels with the kind of line that they name", () => {
  const path = (id: string, isEvaluated: boolean, reward: number): Path => ({
    ...{ id, label: id, colour: "--s1", isEvaluated, isFaint: false },
    points: [{ step: 1, kl: 1, reward, low: reward, high: reward }],
  });
  const paths = [path("solid", false, 0), path("dashed", true, 1)];
  const asked = { paths, width: 900, height: 400, isRoot: false, reward: "Reward" };
  expect(layoutOf(asked).labels.map(({ text }) => text)).toEqual(["— solid", "-- dashed"]);
});

it("names twelve runs with long names on a telephone only where that hides nothing", () => {
  const end = (place: number) => ({ step: 1, kl: 0.9 + place / 100, reward: 0.5 + place / 500 });
  const paths = Array.from({ length: 12 }, (_, place): Path => {
    const { step, kl, reward } = end(place);
    const points = [0, step].map((at) => ({
      ...{ step: at, kl: kl * at, reward: reward * at },
      ...{ low: reward * at, high: reward * at },
    }));
    const label = `A grpo-qwen2.5-1.5b-instruct-lr-1e-6-kl-0.05-seed-${place}`;
    return { id: label, label, colour: "--s1", points, isEvaluated: true };
  });
  const asked = { paths, width: 334, height: 360, isRoot: false, reward: "Held-out reward" };
  const layout = layoutOf(asked);
  expect(layout.labels.length).toBeGreaterThan(3);
  // Each is cut, at least.
  expect(unnamedOf(paths, layout)).toHaveLength(12);
});
