import { beforeEach, describe, expect, it, vi } from "vitest";

import { ActiveTime, keepSpent, spentOn } from "./active-time";
import { MemoryStorage } from "./outbox/simulated/browser";

describe("the time on a comparison", () => {
  const looks = (time: ActiveTime, from: number, to: number, isSeen = true) => {
    for (let now = from + 500; now <= to; now += 500) time.look(now, isSeen);
    return time.spentMs;
  };

  it("counts what passes while somebody is there", () => {
    const time = new ActiveTime(0, 0);
    expect(looks(time, 0, 10_000)).toBe(10_000);
    expect(time.look(10_120, true)).toBe(10_120);
  });
  it("ends a minute after the last input and goes on with the next", () => {
    const time = new ActiveTime(0, 0);
    expect(looks(time, 0, 90_000)).toBe(59_500);
    time.touch(90_000);
    expect(looks(time, 90_000, 91_000)).toBe(60_500);
  });
  it("does not count while the page is hidden or the machine asleep", () => {
    const time = new ActiveTime(0, 0);
    looks(time, 0, 1000);
    expect(looks(time, 1000, 5000, false)).toBe(1000);
    expect(time.look(45_000, true)).toBe(1000);
  });
  it("goes on where a reload has interrupted it", () => {
    expect(looks(new ActiveTime(7000, 0), 0, 1000)).toBe(8000);
  });
});

describe("what is kept of it", () => {
  beforeEach(() => vi.stubGlobal("localStorage", new MemoryStorage()));

  it("is the time of each comparison", () => {
    keepSpent("one", 1200.4);
    keepSpent("two", 10);
    keepSpent("one", 1500);
    expect([spentOn("one"), spentOn("two"), spentOn("three")]).toEqual([1500, 10, 0]);
  });
  it("is no more than that of the last fifty", () => {
    for (let n = 0; n < 60; n += 1) keepSpent(`c${n}`, 1 + n);
    expect([spentOn("c9"), spentOn("c10"), spentOn("c59")]).toEqual([0, 11, 60]);
  });
  it("is nothing where something else was kept", () => {
    localStorage.setItem("podium.active-time", '[["a", "b"], 3]');
    expect(spentOn("a")).toBe(0);
  });
});
