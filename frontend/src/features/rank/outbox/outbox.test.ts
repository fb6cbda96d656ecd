import { beforeEach, describe, expect, it, vi } from "vitest";

import { Problem } from "@/api/client";

/** A Storage in memory, as the browser's behaves. */
class Memory implements Storage {
  private readonly kept = new Map<string, string>();
  get length() {
    return this.kept.size;
  }
  clear = () => this.kept.clear();
  key = (at: number) => [...this.kept.keys()][at] ?? null;
  getItem = (key: string) => this.kept.get(key) ?? null;
  setItem = (key: string, value: string) => void this.kept.set(key, value);
  removeItem = (key: string) => void this.kept.delete(key);
}

vi.stubGlobal("localStorage", new Memory());
const { Outbox } = await import("./outbox");

const unsent = (key: string, userId = "usr_1") => ({
  assignmentId: `asg_${key}`,
  projectId: "prj_1",
  userId,
  key,
  body: {
    tiers: [["a"], ["b"]],
    unranked: [],
    verdict: "ranked" as const,
    comment: "",
    revise: false,
  },
});

/** Waits until it is so; a busy machine takes its time. */
const becomes = (box: InstanceType<typeof Outbox>, status: string) =>
  vi.waitFor(() => expect(box.status).toBe(status), { timeout: 20_000 });

describe("the outbox", () => {
  let storage: Memory;
  let sent: string[];
  let results: (Problem | null)[];
  let later: (() => void)[];
  const send = (item: { key: string }) => {
    const problem = results.shift() ?? null;
    if (problem !== null) return Promise.reject(problem);
    sent.push(item.key);
    return Promise.resolve();
  };
  let signedIn: string;
  const make = (userId = "usr_1") => {
    const server = { send, whoAmI: () => Promise.resolve(signedIn) };
    const box = new Outbox(
      storage,
      server,
      (run) => later.push(run) as unknown as ReturnType<typeof setTimeout>,
    );
    box.open(userId);
    return box;
  };
  beforeEach(() => {
    storage = new Memory();
    sent = [];
    results = [];
    later = [];
    signedIn = "usr_1";
  });

  it("sends in order and keeps nothing that has arrived", async () => {
    const box = make();
    box.add(unsent("1"));
    box.add(unsent("2"));
    await becomes(box, "idle");
    expect(sent).toEqual(["1", "2"]);
    expect(make().all).toEqual([]);
  });

  it("keeps judgments while the network is away and sends them later with the same key", async () => {
    results = [new Problem(0, { detail: "away" })];
    const box = make();
    box.add(unsent("1"));
    await becomes(box, "offline");
    expect(box.all.map((item) => item.key)).toEqual(["1"]);
    later.shift()?.();
    await becomes(box, "idle");
    expect(sent).toEqual(["1"]);
  });

  it("finds them again after a reload", async () => {
    results = [new Problem(503, { detail: "away" })];
    const box = make();
    box.add(unsent("1"));
    await becomes(box, "offline");
    const reloaded = make();
    await reloaded.flush();
    expect(sent).toEqual(["1"]);
  });

  it("waits when the session has ended", async () => {
    results = [new Problem(401, { detail: "signed out" })];
    const box = make();
    box.add(unsent("1"));
    await becomes(box, "signed-out");
    expect(box.all).toHaveLength(1);
  });

  it("shows a refusal and continues with the next judgment", async () => {
    results = [new Problem(409, { detail: "quota is full", advice: "Ask for another." })];
    const box = make();
    box.add(unsent("1"));
    box.add(unsent("2"));
    await becomes(box, "idle");
    expect(sent).toEqual(["2"]);
    expect(box.all[0]?.refusal).toBe("quota is full Ask for another.");
    box.discard("1");
    expect(box.all).toEqual([]);
  });

  it("shows and sends nothing of another person", async () => {
    results = [new Problem(401, { detail: "signed out" })];
    const box = make();
    box.add(unsent("1"));
    await becomes(box, "signed-out");
    const other = make("usr_2");
    expect(other.all).toEqual([]);
    other.discard("1");
    await other.flush();
    expect(sent).toEqual([]);
    box.open("usr_2");
    expect(box.all).toEqual([]);
    box.open("usr_1");
    expect(box.all).toHaveLength(1);
  });

  it("keeps a judgment that was refused because somebody else is signed in", async () => {
    results = [new Problem(404, { detail: "no such assignment" })];
    signedIn = "usr_2";
    const box = make();
    box.add(unsent("1"));
    await becomes(box, "signed-out");
    expect(box.all[0]?.refusal).toBeNull();
    signedIn = "usr_1";
    later.shift()?.();
    await becomes(box, "idle");
    expect(sent).toEqual(["1"]);
  });

  it("loses nothing that two tabs keep at once", async () => {
    results = [0, 0].map(() => new Problem(0, { detail: "away" }));
    const [one, other] = [make(), make()];
    one.add(unsent("1"));
    other.add(unsent("2"));
    await becomes(one, "offline");
    await becomes(other, "offline");
    expect(make().all.map((item) => item.key)).toEqual(["1", "2"]);
  });

  it("keeps in the tab what the browser has no room for", async () => {
    results = [new Problem(0, { detail: "away" })];
    const box = make();
    storage.setItem = () => {
      throw new Error("full");
    };
    box.add(unsent("1"));
    await becomes(box, "offline");
    expect(box.all).toHaveLength(1);
    later.shift()?.();
    await becomes(box, "idle");
    expect([sent, box.all]).toEqual([["1"], []]);
  });
});
