import { afterEach, expect, test, vi } from "vitest";

import { now, subscribe } from "./clock";

afterEach(() => void vi.useRealTimers());

test("the clock is right for the first who looks after a time without anybody", () => {
  vi.useFakeTimers();
  const before = Date.now();
  subscribe(() => undefined)();
  vi.setSystemTime(before + 3 * 3_600_000);

  const leave = subscribe(() => undefined);

  expect(now()).toBe(before + 3 * 3_600_000);
  vi.advanceTimersByTime(10_000);
  expect(now()).toBe(before + 3 * 3_600_000 + 10_000);
  leave();
});
