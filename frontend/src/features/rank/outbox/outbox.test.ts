import { IDBFactory } from "fake-indexeddb";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { Problem } from "@/api/client";
import { Database } from "@/lib/database";
import { LeasedTurns } from "@/lib/turns";

import { MemoryStorage } from "./simulated/browser";
import { Outbox } from "./outbox";
import { countOf, fileOf } from "./unsent-item";
import { UnsentStore } from "./unsent-store";

const unsent = (key: string, userId = "usr_1", more: { revise?: boolean } = {}) => ({
  assignmentId: `asg_${key}`,
  projectId: "prj_1",
  userId,
  key,
  body: {
    tiers: [["a"], ["b"]],
    unranked: [],
    verdict: "ranked" as const,
    comment: "",
    revise: more.revise ?? false,
  },
});

/** Waits until it is so; a busy machine takes its time. */
const becomes = (seen: () => unknown, wanted: unknown) =>
  vi.waitFor(() => expect(seen()).toEqual(wanted), { timeout: 20_000 });

const keysOf = (box: Outbox) => box.all.map((item) => item.key);

describe("the outbox", () => {
  let area: MemoryStorage;
  let database: Database;
  let sent: string[];
  let results: (Problem | "late" | null)[];
  let later: (() => void)[];
  let signedIn: string;
  let now: number;
  const send = (item: { key: string }) => {
    const result = results.shift() ?? null;
    if (result instanceof Problem) return Promise.reject(result);
    sent.push(item.key);
    return Promise.resolve({ review_reason: result });
  };
  const make = async (userId = "usr_1") => {
    const box = new Outbox({
      store: new UnsentStore(area, database),
      server: {
        send,
        sendLast: (item) => void send(item),
        whoAmI: () => Promise.resolve(signedIn),
      },
      turns: new LeasedTurns(database),
      later: (run) => later.push(run) as unknown as ReturnType<typeof setTimeout>,
      now: () => now,
      tellOthers: () => undefined,
    });
    await box.open(userId);
    return box;
  };
  beforeEach(() => {
    area = new MemoryStorage();
    database = new Database(new IDBFactory());
    sent = [];
    results = [];
    later = [];
    signedIn = "usr_1";
    now = 1000;
  });

  it("sends in order and keeps nothing that has arrived", async () => {
    const box = await make();
    box.add(unsent("1"));
    box.add(unsent("2"));
    await becomes(() => [box.status, sent], ["idle", ["1", "2"]]);
    expect([box.all, (await make()).all, area.length]).toEqual([[], [], 0]);
  });

  it("keeps judgments in IndexedDB while the network is away and sends them later", async () => {
    results = [new Problem(0, { detail: "away" })];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "offline");
    expect([keysOf(box), area.length]).toEqual([["1"], 0]);
    expect(await database.of("judgments", "usr_1")).toHaveLength(1);
    later.shift()?.();
    await becomes(() => [box.status, sent], ["idle", ["1"]]);
  });

  it("finds what a version kept that knew localStorage alone, and what a dead tab noted", async () => {
    const old = { ...unsent("1"), submittedAt: 1, refusal: null };
    area.setItem("podium.outbox.usr_1.1", JSON.stringify(old));
    area.setItem("podium.outbox.usr_2.2", JSON.stringify({ ...old, userId: "usr_2", key: "2" }));
    const box = await make();
    expect(keysOf(box)).toEqual(["1"]);
    expect([area.length, area.key(0)]).toEqual([1, "podium.outbox.usr_2.2"]);
    await box.flush();
    expect(sent).toEqual(["1"]);
  });

  it("waits when the session has ended", async () => {
    results = [new Problem(401, { detail: "signed out" })];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "signed-out");
    expect(box.all).toHaveLength(1);
  });

  it("shows a refusal, continues, and sends again when it is told to", async () => {
    results = [new Problem(409, { detail: "too many reviews", advice: "Reopen it." })];
    const box = await make();
    box.add(unsent("1"));
    box.add(unsent("2"));
    await becomes(() => [box.status, sent], ["idle", ["2"]]);
    expect(box.all[0]?.refusal).toBe("Too many reviews. Reopen it.");
    const file = JSON.parse(fileOf(box.all)) as { judgments: { assignment_id: string }[] };
    expect(file.judgments.map((one) => one.assignment_id)).toEqual(["asg_1"]);
    await box.retry("1");
    expect([sent, box.all]).toEqual([["2", "1"], []]);
  });

  it("forgets what its author discards", async () => {
    results = [new Problem(404, { detail: "no such assignment" })];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.all[0]?.refusal?.startsWith("You can no longer judge"), true);
    await box.discard("1");
    expect(box.endOf("1")).toBe("discarded");
    expect([box.all, (await make()).all]).toEqual([[], []]);
  });

  it("takes anew what was refused here and discarded by another tab", async () => {
    results = [new Problem(422, { detail: "bad" })];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.all[0]?.refusal, "Bad.");
    const other = await make();
    await other.discard("1");
    await box.reload();
    expect([box.all, box.add(unsent("1"))]).toEqual([[], true]);
    await becomes(() => sent, ["1"]);
  });

  it("says what the server keeps for review", async () => {
    results = ["late"];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.reviewed.map((one) => one.reason), ["late"]);
    expect(box.all).toEqual([]);
    box.dismissReviewed();
    expect(box.reviewed).toEqual([]);
  });

  it("takes a double click for one judgment, and a revision for another", async () => {
    const box = await make();
    expect(box.add(unsent("1"))).toBe(true);
    expect(box.add({ ...unsent("2"), assignmentId: "asg_1" })).toBe(false);
    expect(box.add({ ...unsent("3", "usr_1", { revise: true }), assignmentId: "asg_1" })).toBe(
      true,
    );
    await becomes(() => [box.status, sent], ["idle", ["1", "3"]]);
  });

  describe("what is held back for three seconds", () => {
    const HOLD_MS = 3000;
    const pass = (ms: number) => {
      now += ms;
      for (const run of later.splice(0)) run();
    };

    it("is kept at once and sent when its time has come", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      await becomes(() => [box.status, keysOf(box), sent], ["idle", ["1"], []]);
      expect(keysOf(await make())).toEqual(["1"]);
      pass(HOLD_MS - 1);
      await becomes(() => box.status, "idle");
      expect(sent).toEqual([]);
      pass(1);
      await becomes(() => [sent, box.all], [["1"], []]);
    });

    it("is gone for every tab when it is taken back, and can be given anew", async () => {
      const [box, other] = [await make(), await make()];
      box.add(unsent("1"), HOLD_MS);
      await becomes(() => box.status, "idle");
      expect(box.takeBack("1")).toBe(true);
      pass(HOLD_MS);
      await other.flush();
      await box.flush();
      expect([sent, box.all, (await make()).all]).toEqual([[], [], []]);
      expect(box.add({ ...unsent("2"), assignmentId: "asg_1" })).toBe(true);
      await becomes(() => sent, ["2"]);
      expect(area.length).toBe(0);
    });

    it("is taken back also in the moment in which it was given", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      expect(box.takeBack("1")).toBe(true);
      pass(HOLD_MS);
      await box.flush();
      expect([sent, (await make()).all]).toEqual([[], []]);
    });

    it("cannot be taken back once its time is over or it was let go", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      box.letGo();
      expect(box.takeBack("1")).toBe(false);
      await becomes(() => sent, ["1"]);
      box.add(unsent("2"), HOLD_MS);
      now += HOLD_MS;
      expect(box.takeBack("2")).toBe(false);
    });

    it("is sent from a page that is closed, and again with the same key by the next", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      box.part();
      expect(sent).toEqual(["1"]);
      const reloaded = await make();
      now += HOLD_MS;
      await reloaded.flush();
      expect([sent, (await make()).all]).toEqual([["1", "1"], []]);
    });

    it("is sent by its author alone, also if another person signs in before its time", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      await becomes(() => box.status, "idle");
      signedIn = "usr_2";
      await box.open("usr_2");
      const other = await make("usr_2");
      pass(HOLD_MS);
      for (const one of [box, other]) {
        await one.flush();
        one.part();
      }
      expect([sent, box.all, other.all]).toEqual([[], [], []]);
      signedIn = "usr_1";
      await box.open("usr_1");
      await box.flush();
      expect([sent, box.all]).toEqual([["1"], []]);
    });

    it("waits no longer than ten seconds if the clock was set back", async () => {
      const box = await make();
      box.add(unsent("1"), HOLD_MS);
      await becomes(() => box.status, "idle");
      now -= 3_600_000;
      await (await make()).flush();
      expect(sent).toEqual(["1"]);
    });
  });

  it("keeps a skip as it keeps a judgment, and sends both in order", async () => {
    results = [new Problem(0, { detail: "away" })];
    const box = await make();
    const { body: _, ...skipped } = unsent("2");
    box.add(unsent("1"));
    expect(box.add({ ...skipped, skip: { reason: "other" } })).toBe(true);
    // Skipped is skipped: a second key says nothing new.
    expect(box.add({ ...unsent("3"), assignmentId: "asg_2" })).toBe(false);
    await becomes(() => box.status, "offline");
    expect(await database.of("judgments", "usr_1")).toHaveLength(2);
    const reloaded = await make();
    expect([keysOf(reloaded), countOf(reloaded.all)]).toEqual([
      ["1", "2"],
      "1 judgment and 1 skip",
    ]);
    const file = JSON.parse(fileOf(reloaded.all)) as { skips: { skip: object }[] };
    expect(file.skips.map(({ skip }) => skip)).toEqual([{ reason: "other" }]);
    await reloaded.flush();
    expect([sent, reloaded.all, (await make("usr_1")).all]).toEqual([["1", "2"], [], []]);
  });

  it("shows a skip that is refused until its author discards it", async () => {
    results = [new Problem(409, { detail: "this assignment is judged already" })];
    const box = await make();
    const { body: _, ...skipped } = unsent("1");
    box.add({ ...skipped, skip: { reason: "other" } });
    await becomes(() => box.all[0]?.refusal, "This assignment is judged already.");
    await box.discard("1");
    expect(box.all).toEqual([]);
  });

  it("shows and sends nothing of another person", async () => {
    results = [new Problem(401, { detail: "signed out" })];
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "signed-out");
    const other = await make("usr_2");
    expect(other.all).toEqual([]);
    await other.discard("1");
    await other.flush();
    expect(sent).toEqual([]);
    await box.open("usr_2");
    expect(box.all).toEqual([]);
    await box.open("usr_1");
    expect(keysOf(box)).toEqual(["1"]);
  });

  it("keeps a judgment that was refused because somebody else is signed in", async () => {
    results = [new Problem(404, { detail: "no such assignment" })];
    signedIn = "usr_2";
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "signed-out");
    expect(box.all[0]?.refusal).toBeNull();
    signedIn = "usr_1";
    later.shift()?.();
    await becomes(() => sent, ["1"]);
  });

  it("sends once what two tabs keep", async () => {
    results = [0, 0].map(() => new Problem(0, { detail: "away" }));
    const [one, other] = [await make(), await make()];
    one.add(unsent("1"));
    other.add(unsent("2"));
    await becomes(() => [one.status, other.status], ["offline", "offline"]);
    expect(keysOf(await make())).toEqual(["1", "2"]);
    await Promise.all([one.flush(), other.flush()]);
    expect(sent).toEqual(["1", "2"]);
  });

  it.each([
    ["is missing", () => new Database(undefined)],
    ["has no room", () => new FullDatabase(new IDBFactory())],
  ])("keeps judgments in localStorage where IndexedDB %s", async (_, makeDatabase) => {
    results = [new Problem(0, { detail: "away" })];
    database = makeDatabase();
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "offline");
    expect([box.isWithoutRoom, area.length]).toEqual([false, 1]);
    const reloaded = await make();
    await reloaded.flush();
    expect([sent, (await make()).all]).toEqual([["1"], []]);
    expect(area.getItem("podium.outbox.usr_1.1")).toBeNull();
  });

  it("keeps in the tab what the browser has no room for, and says so", async () => {
    results = [new Problem(0, { detail: "away" })];
    database = new Database(undefined);
    area.setItem = () => {
      throw new Error("full");
    };
    const box = await make();
    box.add(unsent("1"));
    await becomes(() => box.status, "offline");
    expect([keysOf(box), box.isWithoutRoom]).toEqual([["1"], true]);
    later.shift()?.();
    await becomes(() => [box.status, sent, box.all], ["idle", ["1"], []]);
  });

  it("does not send again and again what is refused while there is no room to note it", async () => {
    const box = await make();
    area.setItem = () => {
      throw new Error("full");
    };
    database.put = () => Promise.reject(new Error("full"));
    results = [new Problem(404, { detail: "no such assignment" })];
    box.add(unsent("1"));
    await becomes(() => box.all[0]?.refusal?.startsWith("You can no longer judge"), true);
    await becomes(() => [box.status, sent], ["idle", []]);
  });
});

describe("what another tab has sent meanwhile", () => {
  const item = { ...unsent("1"), submittedAt: 1, refusal: null };

  it.each([
    ["in IndexedDB", () => new Database(new IDBFactory())],
    ["in localStorage alone", () => new Database(undefined)],
  ])("is not kept again with a refusal, %s", async (_, makeDatabase) => {
    const [area, database] = [new MemoryStorage(), makeDatabase()];
    const [one, other] = [new UnsentStore(area, database), new UnsentStore(area, database)];
    one.note(item);
    await one.keep(item);
    expect(await other.of("usr_1")).toEqual([item]);
    const refused = { ...item, refusal: "You are no member." };
    expect(await other.keepAgain(refused)).toBe(true);
    expect(await one.of("usr_1")).toEqual([refused]);

    await one.remove(item);

    expect(await other.keepAgain(refused)).toBeNull();
    expect(await one.of("usr_1")).toEqual([]);
  });

  it("does not come back from a note that was read before", async () => {
    const [area, factory] = [new MemoryStorage(), new IDBFactory()];
    const late = new LateDatabase(factory);
    const one = new UnsentStore(area, new Database(factory));
    one.note(item);

    const looking = new UnsentStore(area, late).of("usr_1");
    await one.remove(item);
    late.begin();

    expect([await looking, await one.of("usr_1")]).toEqual([[], []]);
  });
});

/** A database that changes nothing before it is told to begin. */
class LateDatabase extends Database {
  begin: () => void = () => undefined;
  private readonly begun = new Promise<void>((resolve) => (this.begin = resolve));
  override async change<Result>(
    ...given: Parameters<typeof Database.prototype.change<Result>>
  ): Promise<Result> {
    await this.begun;
    return super.change(...given);
  }
}

/** A database that reads and refuses to write. */
class FullDatabase extends Database {
  override put(): Promise<void> {
    return Promise.reject(new DOMException("full", "QuotaExceededError"));
  }
  override change(): Promise<never> {
    return Promise.reject(new DOMException("full", "QuotaExceededError"));
  }
}
