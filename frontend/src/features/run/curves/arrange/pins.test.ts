import { describe, expect, it } from "vitest";

import { movedBy, movedTo, pinsOf, textOf, toggled } from "./pins";

const ABC = ["a", "b", "c"];

describe("pinned charts", () => {
  it("come in the order in which they were pinned, each once", () => {
    expect(toggled(toggled(ABC, "d"), "b")).toEqual(["a", "c", "d"]);
    expect(pinsOf("a~b~a~~c")).toEqual(ABC);
    expect(pinsOf(textOf(ABC))).toEqual(ABC);
    expect(pinsOf("")).toEqual([]);
  });
  it("are few, whatever an address says", () => {
    const many = Array.from({ length: 500 }, (_, n) => `m/${n}`).join("~");
    expect(pinsOf(many)).toHaveLength(24);
    expect(pinsOf("x".repeat(101))).toEqual([]);
    expect(toggled(pinsOf(many), "new").at(-1)).toBe("new");
  });
  it("take the place of another, which moves aside", () => {
    expect(movedTo(ABC, "a", "c")).toEqual(["b", "c", "a"]);
    expect(movedTo(ABC, "c", "a")).toEqual(["c", "a", "b"]);
    expect(movedTo(ABC, "a", "a")).toEqual(ABC);
    expect(movedTo(ABC, "x", "a")).toEqual(ABC);
  });
  it("move past a neighbour that is seen, also over one that this run has not", () => {
    expect(movedBy(ABC, ["a", "c"], "c", -1)).toEqual(["c", "a", "b"]);
    expect(movedBy(ABC, ABC, "a", -1)).toEqual(ABC);
    expect(movedBy(ABC, ABC, "b", 1)).toEqual(["a", "c", "b"]);
  });
});
