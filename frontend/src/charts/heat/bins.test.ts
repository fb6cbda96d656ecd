import { describe, expect, it } from "vitest";

import { edgesOf, QUANTILES, reachOf, sharesOf, summariesOf, valueOf } from "./bins";

/** The bin of a number whose last 18 bits are 0. */
function binOf(value: number): number {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, Math.abs(value));
  return Math.sign(value) * (bits.getUint32(0) >> 18);
}

describe("bins", () => {
  it("are as wide as 1/32 of their power of two, on both sides of 0", () => {
    expect(binOf(1)).toBe(4064);
    expect(edgesOf(4064)).toEqual([1, 1 + 1 / 32]);
    expect(edgesOf(-4064)).toEqual([-1 - 1 / 32, -1]);
    expect(edgesOf(binOf(2))).toEqual([2, 2 + 1 / 16]);
    expect(edgesOf(0)).toEqual([-(2 ** -20), 2 ** -20]);
  });

  it("tell rewards of halves and lengths up to 64 exactly", () => {
    const values = [-1, -0.5, 0, 0.25, 0.5, 1, ...Array.from({ length: 64 }, (_, i) => i + 1)];
    expect(values.map((value) => valueOf(binOf(value)))).toEqual(values);
  });
});

const spread = {
  name: "reward",
  x: [1, 2],
  bins: [[binOf(-1), 0, binOf(1)], [binOf(2)]],
  counts: [[1, 2, 17], [4]],
};

describe("a column", () => {
  it("has the quantiles of its values", () => {
    expect(summariesOf(spread)).toEqual([
      // Of 20 values one is at -1, so 5 % of them are: then 0, 0, and 1 from 15 % on.
      { x: 1, n: 20, quantiles: [-1, -1, 1, 1, 1, 1, 1] },
      { x: 2, n: 4, quantiles: QUANTILES.map(() => 2) },
    ]);
  });

  it("is drawn without the few values that lie far away", () => {
    const far = { ...spread, bins: [[binOf(1), binOf(1000)]], counts: [[999, 1]] };
    expect(reachOf(far)[1]).toBeLessThan(2);
  });

  it("reaches from below its lowest bin to above the end of its highest", () => {
    const [low, high] = [-1 - 1 / 32, 2 + 1 / 16];
    const [from, to] = reachOf(spread);
    expect([from, to]).toEqual([low - 0.08 * (high - low), high + 0.08 * (high - low)]);
  });
});

describe("rows", () => {
  it("share the values of a bin that is wider than they are", () => {
    const shares = sharesOf([binOf(1)], [8], [1, 1 + 1 / 16], 4);
    expect([...shares]).toEqual([0.5, 0.5, 0, 0]);
  });

  it("hold all values: those that lie beyond are on the border", () => {
    const sum = (shares: Float64Array) => shares.reduce((all, share) => all + share, 0);
    const [bins = [], counts = []] = [spread.bins[0], spread.counts[0]];
    expect(sum(sharesOf(bins, counts, reachOf(spread), 7))).toBeCloseTo(1);
    const [low, ...others] = sharesOf(bins, counts, [-0.5, 0.5], 7);
    expect(low).toBeCloseTo(1 / 20);
    expect(others.at(-1)).toBeCloseTo(17 / 20);
    expect(others[2]).toBeCloseTo(2 / 20);
    expect([...sharesOf(bins, counts, [5, 6], 2)]).toEqual([1, 0]);
  });
});
