import { expect, it } from "vitest";

import { diff } from "./diff";

const joined = (pieces: { text: string }[]) => pieces.map(({ text }) => text).join("");
const numbers = (first: number) =>
  Array.from({ length: 3000 }, (_, i) => String(first + i)).join(" ");

it("marks the words that the other text lacks", () => {
  const [left, right] = diff("clean the fan now", "clean the vents now").sides;
  expect(left.filter(({ isOwn }) => isOwn)).toEqual([{ text: "fan", isOwn: true }]);
  expect(right.filter(({ isOwn }) => isOwn)).toEqual([{ text: "vents", isOwn: true }]);
});
it("gives both texts back whole", () => {
  const [a, b] = ["Ein Satz, mit Komma.\n\nZwei.", "Zwei Sätze! Mit Komma."];
  expect(diff(a, b).sides.map(joined)).toEqual([a, b]);
});
it("finds nothing between equal texts and everything between strangers", () => {
  expect(diff("same", "same").sides).toEqual([
    [{ text: "same", isOwn: false }],
    [{ text: "same", isOwn: false }],
  ]);
  expect(diff("", "new").sides).toEqual([[], [{ text: "new", isOwn: true }]]);
});
it("compares all of long texts that differ little", () => {
  const { sides, isCut } = diff(`${numbers(0)} cold`, `${numbers(0)} warm`);
  expect(sides.map((pieces) => pieces.at(-1)?.text)).toEqual(["cold", "warm"]);
  expect(isCut).toBe(false);
});
it("shows what follows the words that are compared", () => {
  const [a, b] = [numbers(0), numbers(100_000)];
  const { sides, isCut } = diff(a, b);
  expect(isCut).toBe(true);
  expect(sides.map(joined)).toEqual([a, b]);
  expect(sides.map((pieces) => pieces.at(-1)?.isOwn)).toEqual([false, false]);
});
