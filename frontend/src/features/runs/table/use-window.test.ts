import { describe, expect, it } from "vitest";

import { drawnOf } from "./use-window";

describe("the rows that are drawn", () => {
  it("are all of a short table", () => {
    expect(drawnOf(200, 40, 4000, 800)).toEqual({ from: 0, to: 200, before: 0, behind: 0 });
  });

  it.each([0, 1, 399, 4000, 399_000, 500_000, -50])("fill the screen at %d px", (abovePx) => {
    const drawn = drawnOf(10_000, 40, abovePx, 800);
    expect(drawn.to - drawn.from).toBeLessThan(90);
    expect(drawn.before).toBe(drawn.from * 40);
    expect(drawn.before + (drawn.to - drawn.from) * 40 + drawn.behind).toBe(400_000);
    const shown = Math.min(Math.max(0, abovePx), 399_000);
    expect(drawn.before).toBeLessThanOrEqual(shown);
    expect(drawn.to * 40).toBeGreaterThanOrEqual(Math.min(400_000, shown + 800));
  });
});
