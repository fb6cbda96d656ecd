import { describe, expect, it } from "vitest";

import { placed, type Mark } from "./labels";

const room = { left: 50, right: 400, top: 0, bottom: 200 };
const lines = (wanted: Parameters<typeof placed>[0]) => placed(wanted, room).map(({ y }) => y);

it("leaves labels where they want to be if none covers another", () => {
  const wanted = [
    { text: "training", x: 300, y: 100 },
    { text: "held-out", x: 300, y: 114 },
    { text: "other", x: 200, y: 100 },
  ];
  expect(lines(wanted)).toEqual([100, 114, 100]);
});

it("moves a label by lines, above first, where paths end at one point", () => {
  const one = { text: "training", x: 300, y: 100 };
  expect(lines([one, one, one, one])).toEqual([100, 86, 114, 72]);
});

it("stays in the picture", () => {
  const high = { text: "a", x: 300, y: 16 };
  expect(lines([high, high, high])).toEqual([16, 30, 44]);
  const low = { text: "a", x: 300, y: 196 };
  expect(lines([low, low])).toEqual([196, 182]);
});

it("begins a label at its point where it would leave the picture on the left", () => {
  const wanted = [
    { text: "training", x: 100, y: 50 },
    { text: "training", x: 110, y: 150 },
  ];
  expect(placed(wanted, room).map(({ anchor }) => anchor)).toEqual(["start", "end"]);
});

it("keeps a label where it is wanted if there is no room", () => {
  const one = { text: "a", x: 300, y: 10 };
  expect(placed([one, one], { ...room, bottom: 10 }).map(({ y }) => y)).toEqual([10, 10]);
});

const NAME = "a run with a long name";

it("moves a label to the left that would leave the picture on the right", () => {
  // No room for it left of its point, nor right of it.
  const narrow = { ...room, right: 300 };
  const [label] = placed([{ text: NAME, x: 190, y: 50 }], narrow);
  expect(label).toMatchObject({ text: NAME, anchor: "start" });
  expect(label?.x).toBeCloseTo(300 - NAME.length * 6.7);
});

it("leaves out the middle of a label that would take most of the width", () => {
  const [long, square] = placed(
    [
      { text: `${NAME}, ${NAME}, ${NAME}, seed 1`, x: 390, y: 50 },
      { text: "实验".repeat(40), x: 390, y: 100 },
    ],
    room,
  );
  expect(long?.text).toMatch(/^a run with .*….* seed 1$/);
  expect(long?.text.length).toBeLessThanOrEqual((0.6 * 350) / 6.7);
  expect(square?.text.length).toBeLessThanOrEqual(1 + (0.6 * 350) / 11);
});

describe("points", () => {
  const label = { text: "training", x: 300, y: 100 };
  const at = (x: number, top: number, bottom: number) => ({ x, top, bottom });

  it("are not hidden by a label where a line nearby is free", () => {
    const yOf = (...marks: Mark[]) => placed([label], room, marks)[0]?.y;
    expect(yOf(at(290, 90, 95))).toBe(86);
    expect(yOf(at(290, 60, 102))).toBe(114);
    // Beside it, above it and below it.
    expect(yOf(at(310, 0, 200), at(200, 0, 200), at(290, 0, 89), at(290, 104, 200))).toBe(100);
  });

  it("are hidden where all lines nearby have some, but never by two labels at one place", () => {
    const full = [at(290, 0, 200)];
    expect(placed([label, label], room, full).map(({ y }) => y)).toEqual([100, 86]);
  });
});
