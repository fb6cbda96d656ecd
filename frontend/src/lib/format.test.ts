import { describe, expect, it } from "vitest";

import {
  ago,
  bytes,
  dayStart,
  duration,
  intervalText,
  number,
  parameters,
  ordinal,
  percent,
  rangeEnds,
  rangeText,
  sentence,
  signed,
  summaryLine,
} from "./format";

describe("format", () => {
  it("shows a missing or non-finite number as a dash, never as NaN", () => {
    expect([number(null), number(Number.NaN), number(undefined)]).toEqual(["–", "–", "–"]);
  });
  it("keeps three digits and a true minus sign", () => {
    expect(number(-0.12345)).toBe("−0.123");
    expect(signed(1.8449)).toBe("+1.84");
    expect(number(0.00002)).toBe("2.00e-5");
    expect(number(-1.5e-8)).toBe("−1.50e-8");
    expect(number(2310)).toBe("2,310");
  });
  it("writes numbers as the verdict's sentences beside them do", () => {
    // The same table is in tests/backend/verdict/test_learner_verdicts.py.
    const written: [number, string][] = [
      [0, "0"],
      [12, "12"],
      [-10, "−10"],
      [1250, "1,250"],
      [5e6, "5,000,000"],
      [0.57, "0.570"],
      [12.04, "12.0"],
      [99.96, "100"],
      [123.44, "123.4"],
      [999.96, "1,000.0"],
      [1000.4, "1,000"],
      [-0.0512, "−0.0512"],
      [0.00012, "0.000120"],
      [1e-5, "1.00e-5"],
      [-1.5e-8, "−1.50e-8"],
      [1000000.5, "1.00e6"],
    ];
    expect(written.map(([value]) => [value, number(value)])).toEqual(written);
  });
  it("rounds nothing to 1, to 0 % or to 100 %", () => {
    expect([number(0.9996), number(-0.9996), number(0.9994), number(1.0004)]).toEqual([
      "0.9996",
      "−0.9996",
      "0.999",
      "1.00",
    ]);
    expect(number(0.9999999)).toBe("1.00000");
    expect([percent(0), percent(0.00003), percent(0.91667), percent(0.99997), percent(1)]).toEqual([
      "0 %",
      "under 0.01 %",
      "91.67 %",
      "over 99.99 %",
      "100 %",
    ]);
  });
  it("tells whole numbers in full, such as steps", () => {
    expect(number(1_000_000)).toBe("1,000,000");
    expect(number(-123_456_789)).toBe("−123,456,789");
    expect([number(1_000_000.5), number(1e21)]).toEqual(["1.00e6", "1.00e21"]);
  });
  it("tells the ends of an interval, or that there is none", () => {
    expect(intervalText({ low: -0.12345, high: 2310 })).toBe("[−0.123, 2,310]");
    expect(intervalText({ low: 0.0004, high: 5000.6 })).toBe("[0.000400, 5,001]");
    expect(intervalText({ low: 8.98e-9, high: 0.135 })).toBe("[0.000, 0.135]");
    expect(intervalText({ low: -0.00001, high: 12 })).toBe("[0.0, 12.0]");
    expect(intervalText({ low: 0, high: 0 })).toBe("no spread");
    expect(intervalText({ low: 10, high: 10.000000001 })).toBe("[10.0000, 10.0000]");
    expect(intervalText({ low: 1.005, high: 3.4 })).toBe("[1.00, 3.40]");
    expect(intervalText({ low: 23.96, high: 24 })).toBe("[23.96, 24.00]");
    expect(intervalText({ low: 980.4, high: 1040.3 })).toBe("[980, 1,040]");
    expect(intervalText({ low: 0.000426, high: 0.000677 })).toBe("[0.000426, 0.000677]");
    expect([intervalText(null), intervalText(undefined)]).toEqual(["no interval", "no interval"]);
  });
  it("tells both ends of a range with as many decimals", () => {
    expect(rangeEnds({ low: 0.1, high: 2.791 })).toEqual(["0.10", "2.79"]);
    expect(rangeEnds({ low: -0.319, high: 0.00126 })).toEqual(["−0.319", "0.001"]);
    expect(rangeEnds({ low: 20, high: 100 })).toEqual(["20", "100"]);
  });
  it("tells a range without zeros that say nothing", () => {
    expect(rangeText({ low: 0, high: 0.05 })).toBe("0 to 0.05");
    expect(rangeText({ low: 0.5, high: 1 })).toBe("0.5 to 1.0");
    expect(rangeText({ low: 0.1, high: 2.791 })).toBe("0.10 to 2.79");
    expect(rangeText({ low: 11.2, high: 32 })).toBe("11.2 to 32.0");
    expect(rangeText({ low: 0, high: 3 })).toBe("0 to 3");
    expect(rangeText({ low: -0.2, high: 0 })).toBe("−0.2 to 0.0");
    expect(rangeText({ low: 99.999999, high: 120 })).toBe("100 to 120");
  });
  it("tells durations in two units at most", () => {
    expect(duration(75)).toBe("1 min 15 s");
    expect(duration(3600 * 26)).toBe("1 d 2 h");
    expect(duration(0)).toBe("0 s");
  });
  it("tells times relative to now", () => {
    const now = Date.parse("2026-01-01T00:10:00Z");
    expect(ago("2026-01-01T00:00:00Z", now)).toBe("10 min ago");
  });
  it("begins the day at midnight where somebody is, not in Greenwich", () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "America/Los_Angeles";
    // Five in the afternoon of the 25th there.
    expect(dayStart(Date.parse("2026-11-26T01:00:00Z"))).toBe("2026-11-25T08:00:00.000Z");
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });
  it("tells bytes in decimal units", () => {
    expect(bytes(98_300_000)).toBe("98.3 MB");
    expect([bytes(0), bytes(999), bytes(1000), bytes(999_700)]).toEqual([
      "0 B",
      "999 B",
      "1.00 kB",
      "1.00 MB",
    ]);
    expect(bytes(999_700_000)).toBe("1.00 GB");
    expect(bytes(1.5e15)).toBe("1,500 TB");
  });
  it("counts parameters in millions and billions", () => {
    expect([null, 999_999, 1_000_000, 999_700_000, 7.24e9].map(parameters)).toEqual([
      "–",
      "999,999",
      "1.00 M",
      "1.00 B",
      "7.24 B",
    ]);
  });
  it("makes a message a sentence", () => {
    expect(sentence("the store is away")).toBe("The store is away.");
    expect(sentence("Is it away?")).toBe("Is it away?");
  });
  it("leaves a name at the beginning of a message as it is", () => {
    expect(sentence("kl/exact is 9 nats")).toBe("kl/exact is 9 nats.");
    expect(sentence("rollout.top_p is below 1")).toBe("rollout.top_p is below 1.");
    expect(sentence("max_tokens is 7")).toBe("max_tokens is 7.");
    expect(sentence("line 3. the rest")).toBe("Line 3. the rest.");
  });
  it("takes of a traceback the last line, of anything else the first", () => {
    expect(summaryLine("Traceback (most recent call last):\n  f()\nKeyError: 3\n")).toBe(
      "KeyError: 3",
    );
    expect(summaryLine("out of memory\nmore")).toBe("out of memory");
  });
  it("knows English ordinals", () => {
    expect([1, 2, 3, 4, 11, 12].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "12th"]);
  });
});
