import { IDBFactory } from "fake-indexeddb";
import { describe, expect, it } from "vitest";

import { Database } from "./database";
import { LeasedTurns, TERM_MS, type Clock } from "./turns";

/** Time that passes when it is told to. */
class Hours implements Clock {
  at = 0;
  private timers: { at: number; every: number; run: () => void }[] = [];
  now = () => this.at;
  wait = (ms: number) =>
    new Promise<void>((resolve) => {
      this.timers.push({ at: this.at + ms, every: 0, run: resolve });
    });
  every = (ms: number, run: () => void) => {
    const timer = { at: this.at + ms, every: ms, run };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((one) => one !== timer));
  };
  /** Whether timers run in this tab: not while it sleeps. */
  isAwake = true;
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.at += Math.min(left, 500);
      const due = this.isAwake ? this.timers.filter((one) => one.at <= this.at) : [];
      this.timers = this.timers.filter((one) => !due.includes(one) || one.every > 0);
      for (const one of due) {
        one.at = this.at + one.every;
        one.run();
      }
      for (let turn = 0; turn < 12; turn += 1) await new Promise((go) => setImmediate(go));
    }
  }
}

/** Work that ends when it is told to. */
function work() {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  return { done, end };
}

describe("turns by leases in IndexedDB", () => {
  const twoTabs = () => {
    const factory = new IDBFactory();
    const hours = [new Hours(), new Hours()] as const;
    const [one, other] = hours.map((clock) => new LeasedTurns(new Database(factory), clock));
    const pass = async (ms: number) => {
      await Promise.all(hours.map((clock) => clock.pass(ms)));
    };
    if (one === undefined || other === undefined) throw new Error("two tabs were made");
    return { one, other, hours, pass };
  };

  it("lets one tab work at a time, for as long as its work lasts", async () => {
    const { one, other, pass } = twoTabs();
    const [long, short] = [work(), work()];
    const told: string[] = [];
    const first = one.take("sending", () => {
      told.push("one begins");
      return long.done.then(() => void told.push("one ends"));
    });
    await pass(500);
    const second = other.take("sending", () => {
      told.push("other begins");
      return short.done;
    });
    await pass(5 * TERM_MS);
    expect(told).toEqual(["one begins"]);
    long.end();
    await first;
    await pass(1000);
    expect(told).toEqual(["one begins", "one ends", "other begins"]);
    short.end();
    await pass(500);
    await second;
  });

  it("gives the turn of a tab that died or sleeps to the next one, after a term", async () => {
    const { one, other, hours, pass } = twoTabs();
    void one.take("sending", () => new Promise(() => undefined));
    await pass(500);
    hours[0].isAwake = false;
    let hasBegun = false;
    const second = other.take("sending", () => {
      hasBegun = true;
      return Promise.resolve();
    });
    await pass(TERM_MS - 2000);
    expect(hasBegun).toBe(false);
    await pass(3000);
    await second;
    expect(hasBegun).toBe(true);
  });

  it("waits no longer than a term when the clock was set back", async () => {
    const { one, other, hours, pass } = twoTabs();
    hours[0].at = 365 * 86_400_000;
    void one.take("sending", () => new Promise(() => undefined));
    await pass(500);
    hours[0].isAwake = false;
    const second = other.take("sending", () => Promise.resolve("done"));
    await pass(1000);
    expect(await second).toBe("done");
  });

  it("gives the turn back when the work fails, and works on where IndexedDB is missing", async () => {
    const { one, other, pass } = twoTabs();
    await expect(one.take("sending", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const second = other.take("sending", () => Promise.resolve("done"));
    await pass(500);
    expect(await second).toBe("done");
    const alone = new LeasedTurns(new Database(undefined));
    expect(await alone.take("sending", () => Promise.resolve("alone"))).toBe("alone");
  });
});
