// @vitest-environment jsdom
import { act, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Assignment } from "@/api/types";

import { useAssignmentQueue, type AssignmentQueue } from "./assignment-queue";

const world = vi.hoisted(() => ({
  offline: [] as unknown[],
  granted: [] as unknown[],
  dropped: [] as string[],
  givenBack: [] as string[],
}));
vi.mock("@/api/assignments", () => ({
  takeAssignment: () => Promise.resolve(world.granted.shift() ?? null),
  renewAssignment: () => new Promise(() => undefined),
  releaseAssignments: (_: string, leases: readonly { id: string }[]) => {
    world.givenBack.push(...leases.map(({ id }) => id));
    return Promise.resolve(null);
  },
}));
vi.mock("../outbox/browser-outbox", () => ({
  outbox: { all: [], open: () => Promise.resolve(), reload: () => Promise.resolve() },
}));
vi.mock("./offline-leases", () => ({
  offlineLeases: () => Promise.resolve(world.offline),
  dropOffline: (id: string) => {
    world.dropped.push(id);
    return Promise.resolve();
  },
}));

const MINUTE = 60_000;
const lease = (id: string, minutes: number) =>
  ({ id, expires_at: new Date(Date.now() + minutes * MINUTE).toISOString() }) as Assignment;

let queue: AssignmentQueue | null = null;
function Queue() {
  const now = useAssignmentQueue("prj_1", "usr_1");
  useEffect(() => {
    queue = now;
  });
  return null;
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
const pause = (ms: number) => act(() => new Promise((resolve) => setTimeout(resolve, ms)));

async function open(): Promise<void> {
  queue = null;
  page = createRoot(ground);
  act(() => page.render(<Queue />));
  // Other tabs are listened to for a moment; then what is granted comes.
  const isOpen = () => queue?.isLoading === false && world.granted.length === 0;
  for (let looks = 0; looks < 100 && !isOpen(); looks++) await pause(50);
  await pause(50);
}

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      postMessage() {}
      close() {}
    },
  );
  localStorage.clear();
  sessionStorage.clear();
  Object.assign(world, { offline: [], granted: [], dropped: [], givenBack: [] });
});
afterEach(() => {
  act(() => page.unmount());
  vi.restoreAllMocks();
});

const idsOf = (leases: readonly Assignment[] | undefined) => leases?.map(({ id }) => id);

it("treats a comparison as any other that was taken offline yesterday and is granted today", async () => {
  world.offline = [lease("asg_old", -60), lease("asg_lasts", 60)];
  world.granted = [lease("asg_old", 15)];
  await open();
  expect(idsOf(queue?.offline)).toEqual(["asg_lasts"]);
  expect(world.dropped).toEqual(["asg_old"]);

  act(() => page.unmount());
  expect(world.givenBack).toEqual(["asg_old"]);
});

it("keeps what was begun offline when its hours are over", async () => {
  localStorage.setItem("podium.draft.asg_begun", JSON.stringify({ tiers: [[0]], count: 2 }));
  world.offline = [lease("asg_begun", -60)];
  await open();
  expect(queue?.current?.id).toBe("asg_begun");
  expect(world.dropped).toEqual([]);
});

it("forgets the list of this tab where the browser has no room for the newer one", async () => {
  sessionStorage.setItem("podium.held.prj_1.usr_1", JSON.stringify([lease("asg_1", 15)]));
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  await open();
  act(() => queue?.advance("asg_1"));
  expect(sessionStorage.getItem("podium.held.prj_1.usr_1")).toBeNull();
});
