import { expect, test } from "vitest";

import type { Run } from "@/api/types";

import { refetchMsOf } from "./refetch";

const runs = (...states: Run["state"][]) => states.map((state) => ({ state }) as Run);

test("what is compared is asked for again while one of its runs is queued or at work", () => {
  expect(refetchMsOf(runs("succeeded", "running"))).toBe(10_000);
  expect(refetchMsOf(runs("stopping"))).toBe(10_000);
  expect(refetchMsOf(runs("succeeded", "queued"))).toBe(10_000);
  expect(refetchMsOf(runs("succeeded", "failed"))).toBe(false);
  expect(refetchMsOf(undefined)).toBe(false);
});
