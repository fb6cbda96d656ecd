// @vitest-environment window
import { act, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Problem } from "@/api/client";
import type { Assignment } from "@/api/types";

import type { Locks } from "./alive";
import { useAssignmentQueue, type AssignmentQueue } from "./assignment-queue";
import type { Ends } from "./other-tabs";
import { keepReopened } from "./reopened";

const world = vi.hoisted(() => ({
  offline: [] as unknown[],
  granted: [] as unknown[],
  /** How often the queue has asked for a comparison. */
  asked: 0,
  isDown: false,
  submitted: [] as string[],
  dropped: [] as string[],
  kept: [] as string[],
  hasRoom: true,
  givenBack: [] as string[],
  hear: null as ((event: { data: unknown }) => void) | null,
  /** Tells that the other tab has died. */
  bury: null as (() => void) | null,
}));
vi.mock("@/api/assignments", () => ({
  takeAssignment: () => {
    world.asked += 1;
    if (world.isDown) return Promise.reject(new Problem(503, { title: "Podium is being started" }));
    return Promise.resolve(world.granted.shift() ?? null);
  },
  renewAssignment: () => new Promise(() => undefined),
  releaseAssignments: (_: string, leases: readonly { id: string }[]) => {
    world.givenBack.push(...leases.map(({ id }) => id));
    return Promise.resolve(null);
  },
}));
vi.mock("@/components/text/late/parts", () => ({ loadForOffline: () => Promise.resolve() }));
vi.mock("../outbox/browser-outbox", () => ({
  outbox: {
    all: [],
    open: () => Promise.resolve(),
    reload: () => Promise.resolve(),
    hasSubmitted: (id: string) => world.submitted.includes(id),
  },
}));
vi.mock("./offline-leases", () => ({
  offlineLeases: () => Promise.resolve(world.offline),
  keepOffline: (_: string, __: string, { id }: { id: string }) => {
    if (!world.hasRoom) return Promise.reject(new Error("no room"));
    world.kept.push(id);
    return Promise.resolve();
  },
  dropOffline: (id: string) => {
    world.dropped.push(id);
    return Promise.resolve();
  },
  dropEnded: (id: string) => {
    world.dropped.push(id);
    return Promise.resolve();
  },
}));

const MINUTE = 60_000;
const lease = (id: string, minutes: number) =>
  ({ id, expires_at: new Date(Date.now() + minutes * MINUTE).toISOString() }) as Assignment;

let queue: AssignmentQueue | null = null;
function Queue({ isThere = true }: { isThere?: boolean }) {
  const now = useAssignmentQueue("prj_1", "usr_1", isThere);
  useEffect(() => {
    queue = now;
  });
  return null;
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
const pause = (ms: number) => act(() => new Promise((resolve) => setTimeout(resolve, ms)));

/** Waits until the queue has taken all that is granted, and an answer leads to no other question. */
async function settled(): Promise<void> {
  let asked = 0;
  const isSo = () => asked > 0 && asked === world.asked && world.granted.length === 0;
  for (let looks = 0; looks < 1000 && !isSo(); looks++) {
    asked = world.asked;
    await pause(10);
  }
  expect([isSo(), queue?.isLoading]).toEqual([true, false]);
}

/** Another tab, which was there before, says what it holds. */
const told = (...leases: readonly Assignment[]) => {
  const ends: Ends = new Map(leases.map((one) => [one.id, Date.parse(one.expires_at)]));
  const data = { tab: "other", since: 1, isWatched: true, ids: [...ends.keys()], ends };
  act(() => world.hear?.({ data }));
};

/** As those of a browser: whoever asks for the lock of the other tab has it when that tab has died. */
const locks: Locks = {
  request: (name: string, _: unknown, free?: () => void) => {
    if (name.endsWith(".other") && free !== undefined) world.bury = free;
    return new Promise(() => undefined);
  },
} as Locks;

async function open(...elsewhere: readonly Assignment[]): Promise<void> {
  queue = null;
  page = createRoot(ground);
  act(() => page.render(<Queue />));
  told(...elsewhere);
  // Other tabs are listened to for a moment; then what is granted comes.
  await settled();
}

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      set onmessage(hear: typeof world.hear) {
        world.hear = hear;
      }
      postMessage() {}
      close() {}
    },
  );
  Object.defineProperty(navigator, "locks", { value: locks, configurable: true });
  localStorage.clear();
  sessionStorage.clear();
  Object.assign(world, { offline: [], granted: [], dropped: [], givenBack: [], kept: [] });
  Object.assign(world, { asked: 0, isDown: false, hasRoom: true, hear: null, bury: null });
  world.submitted = [];
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

it("shows what is granted of a tab that crashed, once its lease there has ended", async () => {
  world.granted = [lease("asg_1", 15)];
  await open(lease("asg_1", -1));
  expect(queue?.current?.id).toBe("asg_1");
});

it("counts what another tab holds offline as none of its own when that is granted later", async () => {
  world.offline = [lease("asg_1", 400)];
  world.granted = [lease("asg_2", 15)];
  await open(...(world.offline as Assignment[]));
  expect(queue?.offline).toEqual([]);

  // Given back there, it is a lease as any other here, which a closed page gives back.
  told();
  world.granted = [lease("asg_1", 15)];
  act(() => queue?.retry());
  await settled();
  act(() => page.unmount());
  expect(world.givenBack).toEqual(["asg_2", "asg_1"]);
});

it("counts as offline no longer what it lets an elder tab have", async () => {
  world.offline = [lease("asg_1", 400)];
  world.granted = [lease("asg_2", 15)];
  await open();
  expect(idsOf(queue?.offline)).toEqual(["asg_1"]);
  told(lease("asg_1", 400));
  expect(idsOf(queue?.offline)).toEqual([]);

  told();
  world.granted = [lease("asg_1", 15)];
  act(() => queue?.retry());
  await settled();
  act(() => page.unmount());
  expect(world.givenBack).toEqual(["asg_2", "asg_1"]);
});

it("keeps an offline comparison in the browser again when its judgment is taken back", async () => {
  world.offline = [lease("asg_1", 400), lease("asg_2", 400)];
  world.granted = [lease("asg_3", 15)];
  await open();
  for (const one of world.offline as Assignment[]) act(() => queue?.advance(one.id));
  expect(world.dropped).toEqual(["asg_1", "asg_2"]);
  act(() => queue?.reopen(lease("asg_1", 400)));
  expect(world.kept).toEqual(["asg_1"]);

  // What was sent is to be revised: that needs no lease.
  keepReopened("prj_1", "usr_1", "asg_2");
  act(() => queue?.reopen(lease("asg_2", 400)));
  // Nor does one that was never taken offline stay in the browser.
  act(() => queue?.reopen(lease("asg_3", 15)));
  expect(world.kept).toEqual(["asg_1"]);
});

it("gives back only what it has taken itself where the browser keeps nothing", async () => {
  world.granted = [lease("asg_1", 15)];
  await open();
  world.hasRoom = false;
  const refused: unknown[] = [];
  const take = () => act(() => queue?.takeOffline().catch((error: unknown) => refused.push(error)));
  // Taken two hours ago by the phone.
  world.granted = [lease("asg_2", 360)];
  await take();
  expect(world.givenBack).toEqual([]);
  world.granted = [lease("asg_3", 480)];
  await take();
  expect(world.givenBack).toEqual(["asg_3"]);
  expect(refused).toHaveLength(2);
});

it("asks a server that was away again only while somebody is there", async () => {
  world.isDown = true;
  page = createRoot(ground);
  await act(async () => page.render(<Queue />));
  while (queue?.error === null || queue?.error === undefined) await pause(10);
  act(() => page.render(<Queue isThere={false} />));
  world.isDown = false;
  world.granted = [lease("asg_1", 15)];
  const { asked } = world;
  act(() => window.dispatchEvent(new Event("online")));
  await pause(1500);
  expect(world.asked).toBe(asked);

  act(() => page.render(<Queue />));
  await settled();
  expect(queue?.current?.id).toBe("asg_1");
});

it("keeps saying what failed while it asks again", async () => {
  const shown = () => [queue?.error instanceof Problem, queue?.isAskedAgain, queue?.isLoading];
  world.isDown = true;
  page = createRoot(ground);
  await act(async () => page.render(<Queue />));
  while (queue?.error === null || queue?.error === undefined) await pause(10);
  expect(shown()).toEqual([true, false, false]);

  const { asked } = world;
  act(() => queue?.retry());
  expect(world.asked).toBe(asked + 1);
  expect(shown()).toEqual([true, true, false]);
  await pause(10);
  expect(shown()).toEqual([true, false, false]);

  world.isDown = false;
  world.granted = [lease("asg_1", 15)];
  act(() => queue?.retry());
  await settled();
  expect([queue?.error, queue?.current?.id]).toEqual([null, "asg_1"]);
});

// Enter may come while the browser still reads what it has kept, and its judgment may be sent by then.
it("does not show again what was judged before the browser has told what it keeps", async () => {
  world.offline = [lease("asg_1", 400), lease("asg_2", 400)];
  sessionStorage.setItem("podium.held.prj_1.usr_1", JSON.stringify(world.offline));
  page = createRoot(ground);
  act(() => page.render(<Queue />));
  world.submitted = ["asg_1"];
  act(() => queue?.advance("asg_1"));
  await settled();
  expect([queue?.current?.id, idsOf(queue?.offline)]).toEqual(["asg_2", ["asg_2"]]);
});

it("takes over what a tab held that has died, those taken offline among it", async () => {
  const [held, offline] = [lease("asg_held", 15), lease("asg_offline", 60)];
  await open(held, offline);
  expect(queue?.isExhausted).toBe(true);
  world.granted = [held];
  world.offline = [offline];
  await pause(50);
  expect(queue?.current).toBeUndefined();

  world.bury?.();
  await pause(700);
  await settled();

  expect(idsOf(queue?.offline)).toEqual(["asg_offline"]);
  expect([queue?.current?.id, queue?.isExhausted]).toEqual(["asg_offline", false]);
  expect(world.granted).toEqual([]);
});

it("takes over nothing while nobody is there", async () => {
  const held = lease("asg_held", 15);
  await open(held);
  act(() => page.render(<Queue isThere={false} />));
  world.granted = [held];
  world.bury?.();
  await pause(700);
  expect(queue?.isExhausted).toBe(true);

  act(() => page.render(<Queue />));
  await settled();
  expect(queue?.current?.id).toBe("asg_held");
});
