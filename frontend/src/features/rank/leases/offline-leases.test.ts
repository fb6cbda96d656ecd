import "fake-indexeddb/auto";

import { expect, it } from "vitest";

import type { Assignment } from "@/api/types";

import { endOf } from "./joined";
import { dropEnded, keepOffline, offlineLeases } from "./offline-leases";

const lease = (id: string, hour: number) =>
  ({ id, expires_at: `2026-01-01T0${hour}:00:00Z` }) as Assignment;
const kept = async () => (await offlineLeases("prj_1", "usr_1")).map(endOf);

it("forgets a lease that has ended, not one that was taken offline anew since", async () => {
  const [ended, anew] = [lease("asg_1", 1), lease("asg_1", 9)];
  await keepOffline("prj_1", "usr_1", anew);
  await dropEnded("asg_1", endOf(ended));
  expect(await kept()).toEqual([endOf(anew)]);
  await dropEnded("asg_1", endOf(anew));
  expect(await kept()).toEqual([]);
  await dropEnded("asg_1", endOf(anew));
  expect(await kept()).toEqual([]);
});
