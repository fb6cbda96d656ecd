import { expect, it } from "vitest";

import { diff, isCut } from "./diff";

const joined = (pieces: { text: string }[]) => pieces.map(({ text }) => text).join("");

it("marks the words that the other text lacks", () => {
  const [left, right] = diff("clean the fan now", "clean the vents now");
  expect(left.filter(({ isOwn }) => isOwn)).toEqual([{ text: "fan", isOwn: true }]);
  expect(right.filter(({ isOwn }) => isOwn)).toEqual([{ text: "vents", isOwn: true }]);
});
it("gives both texts back whole", () => {
  const [a, b] = ["Ein Satz, mit Komma.\n\nZwei.", "Zwei Sätze! Mit Komma."];
  expect(diff(a, b).map(joined)).toEqual([a, b]);
});
it("finds nothing between equal texts and everything between strangers", () => {
  expect(diff("same", "same")).toEqual([
    [{ text: "same", isOwn: false }],
    [{ text: "same", isOwn: false }],
  ]);
  expect(diff("", "new")).toEqual([[], [{ text: "new", isOwn: true }]]);
});
it("shows what follows the words that are compared", () => {
  const long = "word ".repeat(3000);
  expect(isCut(long)).toBe(true);
  expect(diff(long, "x").map(joined)).toEqual([long, "x"]);
});
