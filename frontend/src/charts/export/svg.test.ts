import { JSDOM } from "jsdom";
import { describe, expect, it } from "vitest";

import { horizontalScale, placeOf, verticalScale } from "./scale";
import { heightOf, svgOf, type Picture } from "./svg";

const PICTURE: Picture = {
  ...{ title: "Reward", run: "seed 1", yLabel: "reward/mean", axis: "step", isLog: false },
  data: [
    [0, 50, 100, 150, 200],
    [0, 1, null, 3, 4],
    [0.5, 1.5, null, 3.5, 4.5],
    [-0.5, 0.5, null, 2.5, 3.5],
  ],
  lines: [
    { label: "value", colour: "--s1" },
    { label: "edge", colour: "--s1", width: 0 },
    { label: "edge", colour: "--s1", width: 0 },
  ],
  ...{ bands: [[2, 3]], whiskers: [], range: null, colour: (name) => `#${name.slice(2, 5)}` },
};

function parsed(picture: Picture): Document {
  const document = new JSDOM(svgOf(picture), { contentType: "image/svg+xml" }).window.document;
  expect(document.documentElement.localName).toBe("svg");
  return document;
}

const numbers = (path: string) =>
  [...path.matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

describe("a chart as vectors", () => {
  it("has the data as paths with a gap where a value is missing, and no bitmap", () => {
    const document = parsed(PICTURE);
    expect(document.querySelectorAll("image, foreignObject, script, style")).toHaveLength(0);
    const line = document.querySelector('path[fill="none"]')?.getAttribute("d") ?? "";
    expect(line.split("M")).toHaveLength(3);
    const points = numbers(line);
    // Proportional to the data: 0, 1, 3, 4 at 0, 50, 150, 200.
    const [first, second, third, last] = points.map(([, y]) => y ?? NaN);
    const unit = ((first ?? 0) - (last ?? 0)) / 4;
    expect((first ?? 0) - (second ?? 0)).toBeCloseTo(unit, 1);
    expect((first ?? 0) - (third ?? 0)).toBeCloseTo(3 * unit, 1);
    const xs = points.map(([x]) => x ?? NaN);
    expect((xs[1] ?? 0) - (xs[0] ?? 0)).toBeCloseTo((xs[3] ?? 0) - (xs[2] ?? 0), 1);
    expect(document.querySelectorAll('path[fill-opacity="0.14"]')).toHaveLength(2);
  });
  it("shows as much of the vertical axis as the screen does at least", () => {
    const pathOf = (picture: Picture) =>
      numbers(parsed(picture).querySelector('path[fill="none"]')?.getAttribute("d") ?? "");
    const heightIn = (picture: Picture) => {
      const ys = pathOf(picture).map(([, y]) => y ?? NaN);
      return Math.max(...ys) - Math.min(...ys);
    };
    const floor = { includes: { low: 0, high: 40 }, span: 0 };
    expect(heightIn({ ...PICTURE, floor })).toBeLessThan(heightIn(PICTURE) / 5);
    expect(heightIn({ ...PICTURE, floor: null })).toBe(heightIn(PICTURE));
  });
  it("goes on over places that other curves have, and says what each colour stands for", () => {
    const legend = [
      { label: "A: low <rate>", colour: "--s1", isDashed: false },
      { label: "B", colour: "--s2", isDashed: true },
    ];
    const picture: Picture = {
      ...PICTURE,
      // Aligned columns: what is undefined is no gap.
      data: [
        [0, 1, 2, 3],
        [0, undefined, 2, 3],
        [1, 1, undefined, 1],
      ],
      lines: [
        { label: "a", colour: "--s1" },
        { label: "b", colour: "--s2", isDashed: true },
      ],
      ...{ bands: [], legend },
    };
    const document = parsed(picture);
    const paths = [...document.querySelectorAll('path[fill="none"]')];
    expect(paths.map((one) => one.getAttribute("d")?.split("M").length)).toEqual([2, 2]);
    expect(paths.map((one) => one.getAttribute("stroke-dasharray"))).toEqual([null, "6 4"]);
    expect(document.documentElement.textContent).toContain("A: low <rate>");
    expect(document.documentElement.getAttribute("height")).toBe(String(heightOf(picture)));
    expect(heightOf(picture)).toBeGreaterThan(heightOf(PICTURE));
  });
  it("says what it is: title, run, both axes", () => {
    const texts = [...parsed(PICTURE).querySelectorAll("text")].map((one) => one.textContent);
    expect(texts).toEqual(expect.arrayContaining(["Reward", "seed 1", "Step", "reward/mean", "0"]));
  });
  it("stays one document whatever a run is called", () => {
    const hostile = `</text><script>alert(1)</script>&"'\u0000\u001b\ud800 <b>`;
    const document = parsed({ ...PICTURE, run: hostile, yLabel: hostile });
    expect(document.querySelectorAll("script, b")).toHaveLength(0);
    expect(document.documentElement.textContent).toContain("<script>alert(1)</script>&\"'");
  });
  it("shows lone points and evaluations as dots, with whiskers", () => {
    const [value] = PICTURE.lines;
    if (value === undefined) return;
    const lone = parsed({
      ...PICTURE,
      data: [
        [0, 1, 2],
        [1, null, 2],
      ],
      lines: [value],
      bands: [],
    });
    expect(lone.querySelectorAll("circle")).toHaveLength(2);
    const marked = PICTURE.lines.map((line, i) => (i === 0 ? { ...line, isMarked: true } : line));
    const evaluated = parsed({ ...PICTURE, lines: marked, bands: [], whiskers: [[2, 3]] });
    expect(evaluated.querySelectorAll("circle")).toHaveLength(4);
    expect(svgOf({ ...PICTURE, data: [[], [], [], []] })).toContain("</svg>");
  });
});

describe("scales", () => {
  it("go out to round ticks around the values", () => {
    const scale = verticalScale([0.13, 0.87], false);
    expect([scale.low, scale.high]).toEqual([0, 1]);
    expect(scale.ticks.map(({ text }) => text)).toEqual([
      ...["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"],
    ]);
    expect(placeOf(scale, 0.25)).toBeCloseTo(0.25);
    const flat = verticalScale([3, 3], false);
    expect(flat.low).toBeLessThan(3);
    expect(flat.high).toBeGreaterThan(3);
    expect(verticalScale([], true).ticks.length).toBeGreaterThan(0);
  });
  it("are powers of ten where they are logarithmic", () => {
    const scale = verticalScale([0.02, 300], true);
    expect(scale.ticks.map(({ text }) => text)).toEqual([
      "1e-2",
      "1e-1",
      "1e0",
      "1e1",
      "1e2",
      "1e3",
    ]);
    expect(placeOf(scale, 10)).toBeCloseTo(0.6);
    expect(verticalScale([1], true)).toMatchObject({ low: 1, high: 10 });
  });
  it("have at most eight ticks of whole steps, or of round times", () => {
    for (const high of [1, 7, 1234, 9_999_999])
      expect(horizontalScale("step", 0, high).ticks.length).toBeLessThanOrEqual(9);
    expect(horizontalScale("relative", 0, 7200).ticks.map(({ text }) => text)).toContain("1 h");
  });
});
