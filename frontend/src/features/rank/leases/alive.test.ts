import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { LockedLives, type Locks } from "./alive";

type Granted = () => unknown;

/** As a browser's: one holder of a name at a time, in the order in which they asked. */
class QueuedLocks {
  private readonly queues = new Map<string, { granted: Granted; fail: () => void }[]>();

  readonly request = ((name: string, ...rest: [Granted] | [LockOptions, Granted]) => {
    const [options, granted] = rest.length === 1 ? [{}, rest[0]] : rest;
    const queue = this.queues.get(name) ?? [];
    this.queues.set(name, queue);
    return new Promise<void>((resolve, reject) => {
      const mine = { granted, fail: () => reject(new DOMException("gone", "AbortError")) };
      options.signal?.addEventListener("abort", () => {
        if (queue.indexOf(mine) > 0) queue.splice(queue.indexOf(mine), 1);
        mine.fail();
      });
      queue.push(mine);
      if (queue.length === 1) void this.serve(name).then(resolve);
    });
  }) as Locks["request"];

  /** The tab that holds it has crashed. */
  crash(name: string): void {
    this.queues.get(name)?.shift();
    void this.serve(name);
  }

  private async serve(name: string): Promise<void> {
    const [first] = this.queues.get(name) ?? [];
    if (first === undefined) return;
    await Promise.resolve();
    await first.granted();
    const queue = this.queues.get(name);
    if (queue?.[0] !== first) return;
    queue.shift();
    await this.serve(name);
  }
}

const LOCK = "podium.tab.one";
const pause = () => vi.advanceTimersByTimeAsync(5000);

let locks: QueuedLocks;
let lives: LockedLives;

beforeEach(() => {
  vi.useFakeTimers();
  locks = new QueuedLocks();
  lives = new LockedLives(locks);
});
afterEach(() => vi.useRealTimers());

it("tells every tab that waits, and none as long as it lives", async () => {
  const [one, another, begun] = [vi.fn(), vi.fn(), vi.fn()];
  lives.begin("one", begun);
  await pause();
  expect(begun).toHaveBeenCalledOnce();
  lives.afterDeath("one", one);
  lives.afterDeath("one", another);
  await pause();
  expect([one, another].map((tell) => tell.mock.calls.length)).toEqual([0, 0]);

  locks.crash(LOCK);
  await pause();
  expect([one, another].map((tell) => tell.mock.calls.length)).toEqual([1, 1]);
});

it("tells nothing of a tab whose word that it was closed comes after its lock was freed", async () => {
  const [death, begun] = [vi.fn(), vi.fn()];
  const end = lives.begin("one", begun);
  await pause();
  const stop = lives.afterDeath("one", death);
  end();
  await vi.advanceTimersByTimeAsync(300);
  stop();
  await pause();
  expect(death).not.toHaveBeenCalled();

  // It lives again where somebody comes back to it, and whoever waits no longer is not in its way.
  lives.begin("one", begun);
  await pause();
  expect(begun).toHaveBeenCalledTimes(2);
});

it("has not begun where it ended before the browser gave the lock", async () => {
  const begun = vi.fn();
  lives.begin("one", begun)();
  await pause();
  expect(begun).not.toHaveBeenCalled();

  const death = vi.fn();
  lives.afterDeath("one", death)();
  await pause();
  expect(death).not.toHaveBeenCalled();
});

it("hears of nothing where the browser refuses", async () => {
  const refused = new LockedLives({ request: () => Promise.reject(new Error("no storage")) });
  const told = vi.fn();
  refused.begin("one", told)();
  refused.afterDeath("one", told)();
  await pause();
  expect(told).not.toHaveBeenCalled();
});
