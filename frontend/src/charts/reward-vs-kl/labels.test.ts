import { describe, expect, it } from "vitest";

import { fitting, placed, widthOf, type Box } from "./labels";

const room = { left: 50, right: 400, top: 0, bottom: 200 };
type Wanted = Parameters<typeof placed>[0];
/** The line of each label, and how far right of where its path ends it begins or ends. */
const lines = (wanted: Wanted, taken: Box[] = []) =>
  placed(wanted, room, taken).map(({ text, x, y, anchor }) => {
    const away = x - (wanted.find((one) => one.text === text)?.x ?? 0);
    return `${y}${anchor === "end" ? " to" : " from"} ${away}`;
  });
const box = (x: number, top: number, bottom: number): Box => ({
  ...{ left: x - 5, right: x + 5, top, bottom },
});

it("leaves labels where they want to be if none covers another", () => {
  const wanted = [
    { text: "training", x: 300, y: 100 },
    { text: "held-out", x: 300, y: 114 },
    { text: "other", x: 200, y: 100 },
  ];
  expect(lines(wanted)).toEqual(["100 to 0", "114 to 0", "100 to 0"]);
});

it("moves labels to the other side and by lines, below first, where paths end at one point", () => {
  const one = { text: "training", x: 300, y: 100 };
  const near = ["100 to 0", "100 from 10", "114 to 0", "114 from 10", "86 to 0"];
  expect(lines([one, one, one, one, one])).toEqual(near);
});

it("stays in the picture", () => {
  const high = { text: "a", x: 300, y: 16 };
  expect(lines([high, high, high])).toEqual(["16 to 0", "16 from 10", "30 to 0"]);
  const low = { text: "a", x: 300, y: 196 };
  expect(lines([low, low, low])).toEqual(["196 to 0", "196 from 10", "182 to 0"]);
});

it("begins a label at its point where it would leave the picture on the left", () => {
  const wanted = [
    { text: "training", x: 100, y: 50 },
    { text: "held-out", x: 110, y: 150 },
  ];
  expect(lines(wanted)).toEqual(["50 from 0", "150 to 0"]);
});

it("leaves a label out that has no place", () => {
  const one = { text: "a", x: 300, y: 10 };
  expect(placed([one, one, one], { ...room, bottom: 14 })).toHaveLength(2);
});

it("says less where there is no place for the whole", () => {
  const label = { text: "A a run", short: "A", x: 300, y: 100 };
  const full = [box(280, 55, 160), box(330, 0, 200)];
  expect(placed([label], room).map(({ text }) => text)).toEqual(["A a run"]);
  expect(placed([label], room, full)).toMatchObject([{ text: "A", x: 300, y: 100, anchor: "end" }]);
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
  // Emoji take more than the squares of Chinese.
  expect(widthOf("\u{1f680}")).toBeGreaterThan(widthOf("实"));
  expect([...fitting("\u{1f680}".repeat(9), 70)]).toHaveLength(5);
});

describe("points", () => {
  const label = { text: "training", x: 300, y: 100 };

  it("are never hidden by a label: it moves to the nearest place that is free", () => {
    const line = (...taken: Box[]) => lines([label], taken)[0];
    const own = box(300, 104, 114);
    expect(line(own)).toBe("100 to 0");
    expect(line(own, box(280, 90, 95))).toBe("100 from 0");
    // Its interval, and what stands right of it.
    const interval = box(300, 60, 150);
    expect(line(interval)).toBe("100 to -10");
    expect(line(interval, box(280, 90, 95))).toBe("100 from 10");
    const beyond = box(325, 0, 200);
    expect(line(interval, box(280, 90, 95), beyond)).toBe("114 to -10");
    expect(line(interval, box(280, 90, 120), beyond)).toBe("86 to -10");
  });

  it("take all the room of a label near its path: it is left out, not moved far away", () => {
    const beyond = box(325, 0, 200);
    expect(lines([label, label], [box(280, 55, 160), beyond])).toEqual([]);
    expect(lines([label, label], [box(280, 70, 160), beyond])).toEqual(["58 to 0"]);
  });
});
