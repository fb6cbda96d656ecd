import { expect, test } from "vitest";

import { endedLeases, offlineCount } from "./words";

const HOUR = 3_600_000;
const noon = new Date(2026, 10, 26, 12).getTime();
const ends = (hours: number) => ({ expires_at: new Date(noon + hours * HOUR).toISOString() });

test("leases that were taken offline are told until they end, and as ended from then on", () => {
  const two = [ends(8), ends(9)];

  expect(offlineCount(two, noon)).toMatch(/^2 comparisons offline until \d/);
  expect(endedLeases(two, noon)).toBeNull();
  expect(offlineCount(two, noon + 8 * HOUR)).toBe("2 comparisons offline");
  expect(endedLeases(two, noon + 8 * HOUR)).toMatch(/^The lease of 1 comparison .* ended at \d/);
  expect(endedLeases(two, noon + 9 * HOUR)).toMatch(/^The leases of 2 comparisons .* ended at \d/);
});
