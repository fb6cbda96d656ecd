import { describe, expect, it } from "vitest";

import { allOrNone, extended, moved, NOTHING, stretched, toggled } from "./selection";

const ids = ["a", "b", "c", "d"];

describe("the keys", () => {
  it("begin at either end and stop there", () => {
    expect(moved(NOTHING, ids, 1).at).toBe("a");
    expect(moved(NOTHING, ids, -1).at).toBe("d");
    expect(moved({ ...NOTHING, at: "d" }, ids, 1).at).toBe("d");
    expect(moved({ ...NOTHING, at: "gone" }, ids, 1).at).toBe("a");
    expect(moved(NOTHING, [], 1)).toEqual(NOTHING);
  });

  it("stretch from where they are", () => {
    const first = stretched({ ...NOTHING, at: "b", anchor: "b" }, ids, 1);
    expect(first.chosen).toEqual(["b", "c"]);
    expect(stretched(first, ids, 1).chosen).toEqual(["b", "c", "d"]);
    expect(stretched(NOTHING, ids, 1).chosen).toEqual(["a"]);
  });
});

describe("the mouse", () => {
  it("chooses and leaves", () => {
    const one = toggled(NOTHING, "b");
    expect(one.chosen).toEqual(["b"]);
    expect(toggled(one, "b").chosen).toEqual([]);
  });

  it("takes a range in either direction and keeps what was chosen", () => {
    const one = toggled(toggled(NOTHING, "a"), "d");
    expect(extended(one, ids, "b").chosen).toEqual(["a", "d", "b", "c"]);
    expect(extended(NOTHING, ids, "c").chosen).toEqual(["c"]);
  });

  it("takes all or none", () => {
    const all = allOrNone(toggled(NOTHING, "b"), ids);
    expect(new Set(all.chosen)).toEqual(new Set(ids));
    expect(allOrNone(all, ids).chosen).toEqual([]);
    expect(allOrNone(NOTHING, []).chosen).toEqual([]);
  });

  it("keeps what another filter listed", () => {
    const other = toggled(NOTHING, "z");
    const all = allOrNone(other, ids);
    expect(all.chosen).toEqual(["z", ...ids]);
    expect(allOrNone(all, ids).chosen).toEqual(["z"]);
  });
});
