// @vitest-environment window
/** Leases over time: a server that ends each after fifteen minutes, and somebody who is there or not. */
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Problem } from "@/api/client";
import type { Assignment } from "@/api/types";

import { useKeepAlive } from "./keep-alive";

const MINUTE = 60_000;
const LEASE_MS = 15 * MINUTE;
const IDS = ["asg_1", "asg_2", "asg_3"];

/** When each lease ends, each renewal as [id, minutes since the page was opened], what was lost. */
const world = vi.hoisted(() => ({
  ends: new Map<string, number>(),
  calls: [] as [id: string, at: number][],
  lost: [] as string[],
  given: [] as string[],
  /** The answer to the next renewals instead of a lease. */
  status: null as number | null,
}));
vi.mock("@/api/assignments", () => ({
  renewAssignment: (id: string) => renewed(id),
  releaseAssignments: (_: string, leases: readonly Assignment[]) => {
    world.given.push(...leases.map((one) => one.id));
    return Promise.resolve(null);
  },
}));

let openedAt = 0;
const minutes = () => (Date.now() - openedAt) / MINUTE;
const lease = (id: string) =>
  ({ id, expires_at: new Date(world.ends.get(id) ?? 0).toISOString() }) as Assignment;

function refusal(status: number): Problem {
  return new Problem(status, { title: "Refused" });
}

function renewed(id: string): Promise<Assignment> {
  world.calls.push([id, minutes()]);
  const hasEnded = Date.now() >= (world.ends.get(id) ?? 0);
  const status = hasEnded ? 409 : world.status;
  if (status !== null) return Promise.reject(refusal(status));
  world.ends.set(id, Date.now() + LEASE_MS);
  return Promise.resolve(lease(id));
}

function Tab() {
  useKeepAlive({
    projectId: "prj_1",
    leases: IDS.filter((id) => !world.lost.includes(id)).map(lease),
    onRenewed: () => undefined,
    onLost: (id) => world.lost.push(id),
  });
  return null;
}

let page: Root;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const input = (kind: string) => act(() => void window.dispatchEvent(new Event(kind)));
const callsAfter = (at: number) => world.calls.filter(([, when]) => when > at);

/** Somebody presses a key every four minutes. */
async function work(forMinutes: number): Promise<void> {
  for (let passed = 0; passed < forMinutes; passed += 4) {
    await pass(4 * MINUTE);
    await input("keydown");
  }
}

beforeEach(async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers({ now: Date.parse("2026-01-01T12:00:00Z") });
  openedAt = Date.now();
  const ends = new Map(IDS.map((id) => [id, openedAt + LEASE_MS]));
  Object.assign(world, { ends, calls: [], lost: [], given: [], status: null });
  page = createRoot(document.createElement("div"));
  act(() => page.render(<Tab />));
  await pass(0);
});
afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
});

it("keeps all three leases of a tab for as long as somebody works on the first", async () => {
  await work(20);
  expect(world.lost).toEqual([]);
  for (const id of IDS) {
    const times = world.calls.filter(([one]) => one === id).map(([, at]) => at);
    // Once when the tab opens, then every five minutes: three times in the life of a lease.
    expect(times).toEqual([0, 5, 10, 15, 20]);
    expect(world.ends.get(id)).toBe(Date.now() + LEASE_MS);
  }
});

it("asks no more once nobody has touched the tab for five minutes, so that the leases end", async () => {
  await work(16);
  const lastKey = minutes();
  await pass(10 * MINUTE);
  expect(callsAfter(lastKey)).toEqual(IDS.map((id) => [id, 20]));
  expect(callsAfter(lastKey + 5)).toEqual([]);

  await pass(10 * MINUTE);
  for (const id of IDS) expect(world.ends.get(id)).toBeLessThan(Date.now());
});

it("renews all that is due at the first move of the pointer of whoever comes back", async () => {
  await work(20);
  await pass(10 * MINUTE);
  const back = minutes();
  world.calls.length = 0;
  await input("pointermove");
  expect(world.calls).toEqual(IDS.map((id) => [id, back]));
  await input("pointermove");
  expect(world.calls).toHaveLength(IDS.length);
  expect(world.lost).toEqual([]);
});

it("loses what ended meanwhile: the server says so at the first touch", async () => {
  await work(20);
  await pass(25 * MINUTE);
  expect(world.lost).toEqual([]);
  await input("pointermove");
  await pass(0);
  expect(world.lost).toEqual(IDS);
});

it.each([409, 404])("says that a lease is lost where the answer is %i", async (status) => {
  await work(4);
  expect(world.lost).toEqual([]);
  world.status = status;
  await work(4);
  expect(world.lost).toEqual(IDS);
});

it("tries again at the next look, and loses nothing, where the server is down", async () => {
  await pass(4.5 * MINUTE);
  await input("keydown");
  world.status = 503;
  await pass(2 * MINUTE);
  expect(callsAfter(4.5).length).toBeGreaterThan(IDS.length);
  expect(world.lost).toEqual([]);

  world.status = null;
  world.calls.length = 0;
  await pass(20_000);
  expect(world.calls.map(([id]) => id)).toEqual(IDS);
  await pass(60_000);
  expect(world.calls).toHaveLength(IDS.length);
});

it("gives back what it holds when it is closed, and renews nothing any more", async () => {
  await work(4);
  act(() => page.unmount());
  expect(world.given).toEqual(IDS);
  world.calls.length = 0;
  await input("keydown");
  await pass(10 * MINUTE);
  expect(world.calls).toEqual([]);
});
