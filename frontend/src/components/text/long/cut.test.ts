import { describe, expect, it } from "vitest";

import { seededChance } from "@/lib/seeded-chance";

import { cut, ENOUGH, LONGEST_LINE } from "./cut";

const joined = (text: string) => cut(text).flat().join("");

describe("a text of lines", () => {
  it("is one piece where it is short", () => {
    expect(cut("one\ntwo")).toEqual([["one\ntwo"]]);
    expect(cut("")).toEqual([]);
  });

  it("is cut behind lines", () => {
    const text = "0123456789\n".repeat(1000);
    const pieces = cut(text);
    expect(pieces.flat().join("")).toBe(text);
    for (const block of pieces) {
      expect(block).toHaveLength(1);
      expect(block[0]?.endsWith("\n")).toBe(true);
      expect(block[0]?.length).toBeLessThan(ENOUGH + 12);
    }
  });

  it("keeps a line in one piece that is not too long", () => {
    const line = `${"漢".repeat(LONGEST_LINE - 1)}\n`;
    expect(cut(line.repeat(3))).toEqual([[line], [line], [line]]);
  });
});

describe("a line that is too long", () => {
  it("is cut behind spaces, and apart from what stands before and behind it", () => {
    const line = `${"word ".repeat(4000)}end\n`;
    const [before, long, after] = cut(`before\n${line}after`);
    expect([before, after]).toEqual([["before\n"], ["after"]]);
    expect(long?.join("")).toBe(line);
    for (const piece of long?.slice(0, -1) ?? []) expect(piece.endsWith(" ")).toBe(true);
    expect(long?.every(({ length }) => length <= LONGEST_LINE)).toBe(true);
  });

  it("is cut behind the marks of a script without spaces", () => {
    const [long] = cut("这是一句话，很长。".repeat(3000));
    for (const piece of long?.slice(0, -1) ?? []) expect(piece).toMatch(/[，。]$/);
  });

  it.each([
    ["👩\u200d💻"],
    ["👍🏽"],
    ["🇩🇪"],
    ["e\u0301"],
    ["ก\u0e33"],
    ["\u1100\u1161\u11a8"],
    ["𠮷"],
  ])("is not cut within what people see as one character: %s", (one) => {
    const [long] = cut(one.repeat(2 * LONGEST_LINE));
    expect(long?.length).toBeGreaterThan(1);
    for (const piece of long ?? []) expect(piece.replaceAll(one, "")).toBe("");
  });

  it("is not cut between letters that are joined, nor between a space and its mark", () => {
    for (const text of ["ب".repeat(20_000), "ن\u200d".repeat(10_000), ` \u0301`.repeat(5000)])
      expect(joined(text)).toBe(text);
    expect(cut("ب".repeat(20_000)).flat()).toHaveLength(1);
    expect(cut("ن\u200d".repeat(10_000)).flat()).toHaveLength(1);
    for (const piece of cut(" \u0301".repeat(5000)).flat())
      expect(piece.startsWith(" ")).toBe(true);
  });
});

const PIECES = [
  "a",
  "word ",
  "漢",
  "。",
  "\n",
  "שלום",
  "مرحبا ",
  "🙂",
  "\0",
  "e\u0301",
  "\ud800",
  "\t",
];

it("loses nothing of generated texts, and cuts no surrogates apart", () => {
  const random = seededChance(1);
  for (let n = 0; n < 100; n++) {
    const some = PIECES.filter(() => random() < 0.4);
    const parts = Array.from(
      { length: Math.floor(random() * 20_000) },
      () => some[Math.floor(random() * some.length)] ?? "x",
    );
    const text = parts.join("");
    const pieces = cut(text).flat();
    expect(pieces.join("") === text).toBe(true);
    expect(pieces.every((piece) => piece !== "" && !/^[\udc00-\udfff]/.test(piece))).toBe(true);
  }
});
