import { expect, it } from "vitest";

import { placed } from "./labels";

const room = { left: 50, top: 0, bottom: 200 };
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
  expect(placed([one, one], { left: 50, top: 0, bottom: 10 }).map(({ y }) => y)).toEqual([10, 10]);
});
