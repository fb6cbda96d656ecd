import { describe, expect, it } from "vitest";

import { csvOf } from "./csv";

describe("comma-separated values", () => {
  it("keep every digit of a number, and say where there is none", () => {
    const values = [0.1 + 0.2, -1e-300, 9007199254740991, 1 / 3];
    const [line] = csvOf([values]).split("\r\n");
    expect(line?.split(",").map(Number)).toEqual(values);
    expect(csvOf([[null, NaN, Infinity, ""]])).toBe("NaN,NaN,NaN,\r\n");
  });
  it("are never read as a formula, and numbers below zero stay numbers", () => {
    const hostile = ["=1+1", "+A1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1"];
    for (const text of hostile) expect(csvOf([[text]])).toMatch(/^"'/);
    expect(csvOf([["-x", -1.5]])).toBe(`"'-x",-1.5\r\n`);
  });
  it("keep commas, quotes and line breaks inside their cell", () => {
    expect(csvOf([['a,"b"\nc', "plain"]])).toBe('"a,""b""\nc",plain\r\n');
  });
});
