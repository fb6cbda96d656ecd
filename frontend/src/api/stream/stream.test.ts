import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { seededChance, type Chance } from "@/lib/seeded-chance";

import type { Heard } from "./feed";
import { Hub, MOST_RUNS, MOST_UNANSWERED } from "./hub";
import { PING_MS, type FromHub, type MessageType } from "./messages";
import { Reader, SimulatedBrowser, SimulatedServer } from "./simulated";

const RUNS = ["run_a", "run_b", "run_c", "run_d"];
const HIDDEN = "run_hidden";
const SEEDS = 40;
/** Longer than any wait before a stream is tried again, and than a dead tab is waited for. */
const QUIET_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function setUp(seed = 1) {
  const chance = seededChance(seed);
  vi.spyOn(Math, "random").mockImplementation(chance);
  const server = new SimulatedServer(chance);
  for (const run of RUNS) server.heads.set(run, 3);
  return { chance, server, browser: new SimulatedBrowser(server, chance) };
}

type World = ReturnType<typeof setUp>;

/** A tab with a part for each of these runs; parts come and go. */
function openTab({ server, browser }: World, ...runs: string[]) {
  const { tab, process } = browser.newTab();
  const parts = new Map<Reader, () => void>();
  const add = (run: string) => {
    const reader = new Reader(run, server);
    parts.set(reader, tab.follow(run, reader));
    return reader;
  };
  const drop = (reader: Reader) => {
    parts.get(reader)?.();
    parts.delete(reader);
  };
  const leave = () => [...parts.keys()].forEach(drop);
  return { process, add, drop, leave, parts, readers: runs.map(add) };
}

const asked = (server: SimulatedServer) => [...server.streams].map(({ runs }) => [...runs].sort());

describe("tabs of one browser", () => {
  it("share one stream, and who comes late to a run joins it without a new one", async () => {
    const world = setUp();
    const { server } = world;
    const first = openTab(world, "run_a");
    const second = openTab(world, "run_b", "run_c");
    await pass(2000);
    expect(asked(server)).toEqual([["run_a", "run_b", "run_c"]]);
    server.write("run_a");
    const { opened } = server;

    const late = openTab(world, "run_a");
    await pass(2000);
    server.write("run_a");
    await pass(2000);

    expect(server.opened).toBe(opened);
    const readers = [first, second, late].flatMap((tab) => tab.readers);
    expect(readers.map(({ has, joins, status }) => [has, joins, status])).toEqual([
      [5, 1, "live"],
      [3, 1, "live"],
      [3, 1, "live"],
      [5, 1, "live"],
    ]);
  });

  it("have parts that come late, which are told so at once", async () => {
    const world = setUp();
    const { add, readers } = openTab(world, "run_a");
    await pass(2000);
    world.server.write("run_a");
    const late = add("run_a");
    expect(late).toMatchObject({ joins: 1, status: "live", has: 4 });
    world.server.write("run_a");
    await pass(2000);
    expect([late.has, late.joins, readers[0]?.has]).toEqual([5, 1, 5]);
  });

  it("open none for nothing, and close it with the last of them", async () => {
    const world = setUp();
    const { readers, leave } = openTab(world, "run_a");
    leave();
    await pass(QUIET_MS);
    expect([world.server.opened, readers[0]?.joins]).toEqual([0, 0]);
    const again = openTab(world, "run_a");
    await pass(2000);
    expect(world.server.streams.size).toBe(1);
    again.leave();
    await pass(2000);
    expect(world.server.streams.size).toBe(0);
  });

  it("are told nothing of the stream's end after a quarter of an hour", async () => {
    const world = setUp();
    const { readers } = openTab(world, "run_a");
    await pass(900_000);
    world.server.cutAll();
    world.server.write("run_a");
    await pass(QUIET_MS);
    expect(readers[0]).toMatchObject({ has: 4, joins: 1, statuses: ["connecting", "live"] });
  });

  it("are told that there is no connection, and go on where they were", async () => {
    const world = setUp();
    const { readers } = openTab(world, "run_a", "run_b");
    await pass(2000);
    world.server.isUp = false;
    world.server.cutAll();
    await pass(5000);
    expect(readers.map(({ status }) => status)).toEqual(["waiting", "waiting"]);
    world.server.write("run_a");
    world.server.isUp = true;
    await pass(QUIET_MS);
    const statuses = ["connecting", "live", "waiting", "live"];
    expect(readers[0]).toMatchObject({ has: 4, joins: 1, statuses });
    expect(readers[1]).toMatchObject({ has: 3, joins: 1, statuses });
  });

  it("are told when their user is signed out, once", async () => {
    const world = setUp();
    const { readers } = openTab(world, "run_a");
    await pass(2000);
    world.server.isSignedOut = true;
    world.server.cutAll();
    await pass(10 * QUIET_MS);
    world.server.isSignedOut = false;
    await pass(QUIET_MS);
    const statuses = ["connecting", "live", "waiting", "signed-out", "live"];
    expect(readers[0]).toMatchObject({ joins: 1, statuses });
  });

  it("do not suffer from a run that one of them may not see", async () => {
    const world = setUp();
    const { readers } = openTab(world, "run_a", HIDDEN);
    await pass(QUIET_MS);
    expect(readers.map(({ status, joins }) => [status, joins])).toEqual([
      ["live", 1],
      ["gone", 0],
    ]);
  });

  it("use a second stream for what the server does not allow in one", async () => {
    const world = setUp();
    const runs = Array.from({ length: MOST_RUNS + 1 }, (_, number) => `run_${number}`);
    for (const run of runs) world.server.heads.set(run, 0);
    const { readers } = openTab(world, ...runs);
    await pass(2000);
    expect(asked(world.server).map(({ length }) => length)).toEqual([MOST_RUNS, 1]);
    expect(readers.every(({ status }) => status === "live")).toBe(true);
  });
});

describe("a hub", () => {
  function listening() {
    const heard: Heard[] = [];
    const hub = new Hub({
      open: (_, one) => {
        heard.push(one);
        return () => undefined;
      },
      isSignedIn: () => Promise.resolve(true),
    });
    const messages: FromHub[] = [];
    const port = { post: (message: FromHub) => messages.push(message) };
    return { hub, port, messages, heard };
  }

  const say = (stream: Heard | undefined, type: MessageType, data: object = {}) =>
    stream?.onMessage(type, JSON.stringify(data));

  it("lets a frozen tab go and lets it join anew when it answers", async () => {
    const { hub, port, messages, heard } = listening();
    hub.hear(port, ["run_a"]);
    await pass(1000);
    say(heard.at(-1), "position", { run_a: 7 });
    const joins = () => messages.filter(({ kind }) => kind === "join").length;
    expect(joins()).toBe(1);
    await pass((MOST_UNANSWERED + 1) * PING_MS);
    const before = messages.length;
    await pass(10 * PING_MS);
    expect(messages.length).toBe(before);

    hub.hear(port, ["run_a"]);
    await pass(1000);
    say(heard.at(-1), "position", { run_a: 9 });
    expect(joins()).toBe(2);
  });

  it("opens a stream anew on which not even pings come any more", async () => {
    const { hub, port, heard } = listening();
    const stay = setInterval(() => hub.hear(port, ["run_a"]), PING_MS);
    hub.hear(port, ["run_a"]);
    await pass(1000);
    say(heard[0], "position", { run_a: 7 });
    for (let pings = 0; pings < 10; pings++) {
      await pass(15_000);
      say(heard[0], "ping");
    }
    expect(heard).toHaveLength(1);
    await pass(60_000);
    expect(heard).toHaveLength(2);
    clearInterval(stay);
  });

  it("passes on a reset and goes on behind it", async () => {
    const { hub, port, messages, heard } = listening();
    hub.hear(port, ["run_a"]);
    await pass(1000);
    say(heard[0], "position", { run_a: 7 });
    say(heard[0], "metric", { run: "run_a", seq: 8 });
    say(heard[0], "metric", { run: "run_a", seq: 8 });
    say(heard[0], "reset", { run: "run_a", seq: 2 });
    say(heard[0], "metric", { run: "run_a", seq: 3 });
    const told = messages.flatMap((one) => (one.kind === "event" ? [one.event] : []));
    expect(told.map(({ type, seq }) => [type, seq])).toEqual([
      ["metric", 8],
      ["reset", 2],
      ["metric", 3],
    ]);
  });
});

type OpenTab = ReturnType<typeof openTab>;
type Happening = (world: World, tab: OpenTab, open: OpenTab[]) => unknown;

/** Each with the end of its share of chance. */
const HAPPENINGS: readonly (readonly [number, Happening])[] = [
  [0.12, (world, _, open) => open.push(openTab(world, ...some([...RUNS, HIDDEN], world.chance)))],
  [0.18, (_, tab) => tab.leave()],
  [0.22, (_, tab) => (tab.process.isAlive = false)],
  [0.27, ({ chance }, tab) => some(RUNS, chance).forEach(tab.add)],
  [0.32, showAgain],
  [0.37, ({ server }) => server.cutAll()],
  [0.4, ({ server }) => (server.isUp = !server.isUp)],
  [0.43, ({ browser, chance }) => browser.killWorker(chance() < 0.5)],
  [0.88, ({ server, chance }) => some(RUNS, chance).forEach((run) => server.write(run))],
  [1, ({ chance }) => pass(30_000 * chance() ** 3)],
];

describe("whatever happens in any order", () => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
    "nothing is missed, nothing comes twice (%i)",
    async (seed) => {
      const world = setUp(seed);
      const { chance, server } = world;
      const open = [openTab(world, ...some(RUNS, chance))];
      for (let turn = 0; turn < 80; turn++) {
        const tab = open[Math.floor(open.length * chance())] ?? openTab(world);
        const lot = chance();
        await HAPPENINGS.find(([end]) => lot < end)?.[1](world, tab, open);
        await pass(400 * chance() ** 3);
      }
      server.isUp = true;
      await pass(3 * QUIET_MS);

      const alive = open.filter(({ process }) => process.isAlive);
      const readers = alive.flatMap(({ parts }) => [...parts.keys()]);
      const seen = readers.filter(({ run }) => run !== HIDDEN);
      expect(seen.map(({ run, has, status }) => [run, has, status])).toEqual(
        seen.map(({ run }) => [run, server.heads.get(run), "live"]),
      );
      const followed = [...new Set(readers.map(({ run }) => run))].sort();
      expect(asked(server)).toEqual(followed.length === 0 ? [] : [followed]);
    },
  );
});

/** The parts of a tab go and come again, now or a moment later. */
async function showAgain({ chance }: World, tab: OpenTab) {
  for (const reader of [...tab.parts.keys()]) {
    tab.drop(reader);
    if (chance() < 0.7) await pass(300 * chance());
    tab.add(reader.run);
  }
}

/** A few of these, each at most once. */
function some<Item>(items: readonly Item[], chance: Chance): Item[] {
  return items.filter(() => chance() < 1.5 / items.length);
}
