import { describe, expect, it } from "vitest";

import { parsedConfig } from "./json-text";
import { changed, isSame, valueAt } from "./paths";
import { numberOf, shownTexts, textsOf } from "./typing";

describe("a value by path", () => {
  const config = { reward: { terms: [{ kind: "model" }, { kind: "length", low: 3 }] }, seed: 1 };

  it("is found in sections and lists", () => {
    expect(valueAt(config, "reward.terms.1.low")).toBe(3);
    expect(valueAt(config, "reward.terms.7.low")).toBeUndefined();
    expect(valueAt(config, "constructor")).toBeUndefined();
  });
  it("is put into a copy; the sections on the way are made", () => {
    expect(changed(config, "reward.terms.1.low", 5)).toEqual({
      reward: { terms: [{ kind: "model" }, { kind: "length", low: 5 }] },
      seed: 1,
    });
    expect(changed({}, "optim.lr", 0.1)).toEqual({ optim: { lr: 0.1 } });
    expect(config.reward.terms[1]).toEqual({ kind: "length", low: 3 });
  });
  it("is taken out by undefined, an item of a list too", () => {
    expect(changed(config, "reward.terms.0", undefined)).toEqual({
      reward: { terms: [{ kind: "length", low: 3 }] },
      seed: 1,
    });
    expect(changed(config, "seed", undefined)).toEqual({ reward: config.reward });
  });
  it("put in and read back is the same", () => {
    for (const path of ["seed", "reward.terms.0.kind", "new.section.key"])
      expect(valueAt(changed(config, path, "x"), path)).toBe("x");
  });
  it("leaves the order of keys as it was", () => {
    expect(Object.keys(changed({ a: 1, b: 2, c: 3 }, "b", 9))).toEqual(["a", "b", "c"]);
  });
});

describe("sameness", () => {
  it("does not depend on the order of keys, but on the order of items", () => {
    expect(isSame({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
    expect(isSame([1, 2], [2, 1])).toBe(false);
    expect(isSame({}, null)).toBe(false);
  });
});

describe("a typed number", () => {
  it("is a number as soon as it is one, else the text for the service to judge", () => {
    expect(numberOf("5e-7")).toBe(5e-7);
    expect(numberOf(" .5 ")).toBe(0.5);
    expect(numberOf("5e-")).toBe("5e-");
    expect(numberOf("0x10")).toBe("0x10");
    expect(numberOf("  ")).toBeUndefined();
  });
  it("is not rounded behind the back of whoever typed it", () => {
    expect(numberOf("9007199254740993")).toBe("9007199254740993");
  });
});

describe("a config as text", () => {
  it("is read", () => {
    expect(parsedConfig('{"a": [1, {"b": null}]}').config).toEqual({ a: [1, { b: null }] });
  });
  it.each([
    ['{"a": 1,}', 'Line 1, column 9: found "}", expected a key in "quotes".'],
    ['{\n  "a": 1\n  "b": 2\n}', 'Line 3, column 3: found a quotation mark, expected "," or "}".'],
    ['{"a": tru}', 'Line 1, column 7: found "t", expected a value.'],
    ['{"a"', "Line 1, column 5: the text ends, expected a colon."],
    ["{} x", 'Line 1, column 4: found "x", expected nothing more.'],
    ["", "Line 1, column 1: the text ends, expected a value."],
  ])("tells the place of the mistake in %j", (text, mistake) => {
    expect(parsedConfig(text)).toEqual({ config: null, mistake });
  });
  it("must be an object", () => {
    expect(parsedConfig("[1]").mistake).toContain("object");
  });
});

describe("texts, one a line", () => {
  it("hold line breaks, tabs and backslashes as they are written in code", () => {
    expect(textsOf("</answer>\n\\n\\n\nUser:\\t\n\\\\n")).toEqual([
      "</answer>",
      "\n\n",
      "User:\t",
      "\\n",
    ]);
  });
  it("keep their spaces, and empty lines are none", () => {
    expect(textsOf("\n a \n\n")).toEqual([" a "]);
    expect(textsOf("")).toEqual([]);
  });
  it("are shown as they were typed", () => {
    for (const texts of [["</answer>", "\n\n", "\\n", "a\tb"], ["\\\n", "\\x"], []])
      expect(textsOf(shownTexts(texts))).toEqual(texts);
  });
});
