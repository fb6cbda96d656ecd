import { JSDOM } from "jsdom";
import { describe, expect, it } from "vitest";

import { pictureOfBars } from "../bars/picture";
import { pictureOfLinesByK } from "../by-k/picture";
import { summariesOf } from "../heat/bins";
import { pictureOfGrid, pictureOfSpread } from "../heat/picture";
import { nameScale } from "./scale";
import { svgOf, type Picture } from "./svg";

const WORDS = { title: "Figure", run: "of <run>", yLabel: "share" };
const colour = (name: string) => `#${name.slice(2)}`;

type Drawn = Omit<Picture, "title" | "run" | "yLabel" | "colour">;

function parsed(drawn: Drawn): Document {
  const svg = svgOf({ ...WORDS, colour, ...drawn });
  const document = new JSDOM(svg, { contentType: "image/svg+xml" }).window.document;
  expect(document.documentElement.localName).toBe("svg");
  expect(document.querySelectorAll("image, script, style")).toHaveLength(0);
  return document;
}

const textsOf = (document: Document) =>
  [...document.querySelectorAll("text")].map((one) => one.textContent);

/** Left, bottom, right and top of each cell of a path. */
const boxesOf = (path: Element | null) =>
  [...(path?.getAttribute("d") ?? "").matchAll(/M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)/g)].map(
    (found) => found.slice(1).map(Number),
  );

const NONE = { lines: [], bands: [], whiskers: [], range: null, isLog: false } as const;

describe("cells of a picture", () => {
  const cell = (at: number, row: number, strength: number) =>
    ({ x: [at, at + 1], y: [row, row + 1], colour: "--s1", strength }) as const;
  const cells = [cell(0, 0, 1), cell(1, 0, 1), cell(3, 0, 1), cell(2, 1, 0.25), cell(0, 1, 0)];
  const picture: Drawn = {
    ...NONE,
    ...{ axis: "step", data: [[]], cells, range: [0, 4] },
    up: nameScale(["low", "high"]),
  };

  it("are as strong as their values, and those that touch in a row are one", () => {
    const document = parsed(picture);
    const paths = [...document.querySelectorAll('path[fill="#s1"]')];
    expect(paths.map((path) => path.getAttribute("fill-opacity"))).toEqual([null, "0.25"]);
    const [first, second] = boxesOf(paths[0] ?? null);
    const wide = (box: readonly number[] = []) => (box[2] ?? 0) - (box[0] ?? 0);
    expect(wide(first)).toBeCloseTo(2 * wide(second), 1);
  });
  it("that continue one another upwards are one, too, and have no seams", () => {
    const tower = [cell(0, 0, 1), cell(0, 1, 1), cell(3, 0, 1)];
    const path = parsed({ ...picture, cells: tower }).querySelector('path[fill="#s1"]');
    expect(boxesOf(path)).toHaveLength(2);
    expect(path?.getAttribute("shape-rendering")).toBe("crispEdges");
  });
  it("have the lines of their texts that have room", () => {
    const texts = ["0.5", "[0.400, 0.600]"];
    const wide = { ...cell(0, 0, 1), texts };
    expect(textsOf(parsed({ ...picture, cells: [wide] }))).toEqual(expect.arrayContaining(texts));
    const narrow = { ...wide, x: [0, 0.4] as const };
    const shown = textsOf(parsed({ ...picture, cells: [narrow] }));
    expect(texts.map((text) => shown.includes(text))).toEqual([true, false]);
  });
  it("stand in rows with names, through which no line leads", () => {
    const document = parsed(picture);
    expect(textsOf(document)).toEqual(expect.arrayContaining(["low", "high", "Step"]));
    expect(document.querySelectorAll("line")).toHaveLength(0);
    const long = "a name that is far too long for the room beside a picture of this width";
    const cut = textsOf(parsed({ ...picture, up: nameScale([long, "b"]) }));
    expect(cut.find((text) => text?.startsWith("a name"))).toMatch(/^a name that .*…$/);
  });
});

describe("pictures of figures", () => {
  it("of bars: one for each level and series from 0, with interval and legend", () => {
    const bar = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });
    const series = [
      { name: "start", colour: "--ink-3", isHollow: true, bars: [bar(0.2), null] },
      { name: "A <grpo>", colour: "--s1", bars: [bar(0.4), bar(0.8)] },
    ];
    const document = parsed(pictureOfBars(["2 people", "3 people"], series, "people"));
    const boxes = boxesOf(document.querySelector('path[fill="#s1"]'));
    expect(boxes).toHaveLength(2);
    const tall = (box: readonly number[] = []) => (box[1] ?? 0) - (box[3] ?? 0);
    expect(tall(boxes[1])).toBeCloseTo(2 * tall(boxes[0]), 0);
    expect(boxesOf(document.querySelector('path[stroke="#ink-3"]'))).toHaveLength(1);
    // A line up and two caps for each interval.
    const whiskers = document.querySelector('path[stroke="#ink"]')?.getAttribute("d") ?? "";
    expect(whiskers.split("M")).toHaveLength(1 + 3 * 3);
    expect(textsOf(document)).toEqual(
      expect.arrayContaining(["2 people", "3 people", "people", "start", "A <grpo>"]),
    );
  });
  it("of bars of 0: a line each, as what was not measured has none", () => {
    const bar = (value: number) => ({ value, low: null, high: null });
    const series = [{ name: "A", colour: "--s1", bars: [bar(0), null, bar(-1e-9), bar(1)] }];
    const document = parsed(pictureOfBars(["1", "2", "3", "4"], series, "people"));
    const boxes = boxesOf(document.querySelector('path[fill="#s1"]'));
    const tall = boxes.map(([, bottom = 0, , top = 0]) => bottom - top);
    expect(tall.slice(0, 2).map((px) => Math.round(px))).toEqual([1, 1]);
    expect(tall).toHaveLength(3);
  });
  it("of lines over k: on a scale of its logarithm, told apart without colours", () => {
    const line = (name: string, values: readonly number[]) => ({
      ...{ name, colour: "--s1" },
      points: values.map((value, i) => ({
        ...{ k: 2 ** i, value },
        interval: { low: value, high: value },
      })),
    });
    const measures = [line("pass@k", [0.2, 0.4, 0.6]), line("maj@k", [0.2, 0.3]), line("bon", [1])];
    const document = parsed(pictureOfLinesByK(measures));
    const dots = [...document.querySelectorAll("circle")].map((one) =>
      Number(one.getAttribute("cx")),
    );
    expect(dots).toHaveLength(6);
    const [one = 0, two = 0, four = 0] = dots;
    expect(four - two).toBeCloseTo(two - one, 1);
    const dashes = [...document.querySelectorAll("line[stroke-width]")].map((sign) =>
      sign.getAttribute("stroke-dasharray"),
    );
    expect(dashes).toEqual([null, "6 4", "2 3"]);
    expect(textsOf(document)).toEqual(expect.arrayContaining(["1", "2", "4", "responses (k)"]));
  });
  it("of a spread: each column as wide as it reaches, and its quantiles", () => {
    // Bins of 1 and of 2, by their bits.
    const [low, high] = [0x3f800000 >> 18, 0x40000000 >> 18];
    const spread = {
      name: "reward",
      x: [10, 20],
      bins: [[low, high], [high]],
      counts: [[1, 3], [4]],
    };
    const drawn = pictureOfSpread(spread, summariesOf(spread), null);
    expect(drawn.range).toEqual([5, 25]);
    const cells = drawn.cells ?? [];
    expect(Math.max(...cells.map(({ strength = 0 }) => strength))).toBe(1);
    // A strength is the root of a share, so a small one is seen, too.
    const shareOf = (from: number, [low, high]: readonly [number, number]) =>
      cells
        .filter(({ x, y }) => x[0] === from && y[0] >= low && y[0] < high)
        .reduce((sum, { strength = 0 }) => sum + strength ** 2, 0);
    const all = shareOf(15, [0, 3]);
    expect(shareOf(5, [0, 1.5]) / all).toBeCloseTo(1 / 4);
    expect(shareOf(5, [1.5, 3]) / all).toBeCloseTo(3 / 4);
    expect(drawn.data[2]).toEqual([2, 2]);
    parsed({ ...drawn, axis: "step", isLog: false });
  });
  it("of rows over steps: the first on top, blank where nothing is known", () => {
    const rows = [
      { label: "a", x: [3, 7], shares: [1, null] },
      { label: "b", x: [3], shares: [0] },
    ];
    const drawn = pictureOfGrid({ rows, width: 4, first: 1, last: 9 });
    expect(drawn.cells?.map(({ x, y, strength }) => [x, y, strength])).toEqual([
      [[-0.5, 3.5], [1, 0], 1],
      [[-0.5, 3.5], [2, 1], 0.1],
    ]);
    expect(drawn.range).toEqual([-0.5, 11.5]);
    const document = parsed({ ...drawn, axis: "step", isLog: false });
    const [[, , , above = 0] = []] = boxesOf(document.querySelector('path[fill="#s1"]'));
    const [[, , , below = 0] = []] = boxesOf(document.querySelector('path[fill-opacity="0.09"]'));
    expect(above).toBeLessThan(below);
    expect(textsOf(document)).toEqual(expect.arrayContaining(["1", "2"]));
  });
});
