/**
 * One browser: its storage, its locks, its clock, and tabs that can be killed at any moment.
 *
 * The outbox, its store and its turns are the real ones; IndexedDB is `fake-indexeddb`. A killed tab
 * does nothing more: what it waits for never comes, and its locks are free.
 */
import { IDBFactory } from "fake-indexeddb";

import { Database, type StoreName } from "@/lib/database";
import { LeasedTurns, LockedTurns, type Clock, type Locks, type Turns } from "@/lib/turns";

import { Outbox } from "../outbox";
import type { Unsent } from "../unsent-item";
import { UnsentStore } from "../unsent-store";
import { saysOf, type SimulatedServer } from "./server";

const never = () => new Promise<never>(() => undefined);

/** Of the event loop, until all must be quiet; a path takes tens. */
const MOST_TURNS = 20_000;

/** A Storage in memory, as the browser's behaves; `isMine` is false for a dead tab. */
export class MemoryStorage implements Storage {
  constructor(
    private readonly kept = new Map<string, string>(),
    private readonly isMine: () => boolean = () => true,
    private readonly onChange: () => void = () => undefined,
  ) {}
  get length() {
    return this.kept.size;
  }
  clear = () => this.kept.clear();
  key = (at: number) => [...this.kept.keys()][at] ?? null;
  getItem = (key: string) => this.kept.get(key) ?? null;
  setItem = (key: string, value: string) => {
    // The browser tells the other tabs of what has changed, not of what is as it was.
    if (!this.isMine() || this.kept.get(key) === value) return;
    this.kept.set(key, value);
    this.onChange();
  };
  removeItem = (key: string) => {
    if (this.isMine()) this.kept.delete(key);
  };
}

/** The browser's database as a tab sees it, until the tab dies or storage is closed to it. */
class TabDatabase extends Database {
  constructor(
    factory: IDBFactory,
    private readonly tab: Tab,
  ) {
    super(factory);
  }
  override of(store: Exclude<StoreName, "turns">, userId: string): Promise<unknown[]> {
    return this.guarded(() => super.of(store, userId));
  }
  override put(store: StoreName, record: object): Promise<void> {
    return this.guarded(() => super.put(store, record));
  }
  override remove(store: StoreName, key: string): Promise<void> {
    return this.guarded(() => super.remove(store, key));
  }
  override change<Result>(
    ...given: Parameters<typeof Database.prototype.change<Result>>
  ): Promise<Result> {
    return this.guarded(() => super.change<Result>(...given));
  }

  private guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.tab.doing(async () => {
      // Nothing is kept yet when a call returns: a tab that dies now has not begun.
      await this.tab.browser.tick(1);
      if (!this.tab.isAlive) throw new Error("dead");
      if (this.tab.browser.isStorageClosed) throw new Error("closed");
      return work();
    });
  }
}

/** Web Locks: whoever asked first, until the work is done or the tab is dead. */
class SimulatedLocks {
  private readonly waiting = new Map<string, { tab: Tab; begin: () => void }[]>();

  of(tab: Tab): Locks {
    return {
      request: (name, work) =>
        new Promise((resolve, reject) => {
          const begin = () => {
            work()
              .then(resolve, reject)
              .finally(() => this.end(name, tab));
          };
          const line = this.waiting.get(name) ?? [];
          this.waiting.set(name, [...line, { tab, begin }]);
          if (line.length === 0) begin();
        }),
    };
  }

  free(tab: Tab): void {
    for (const [name, line] of this.waiting) {
      const isHolder = line[0]?.tab === tab;
      const rest = line.filter((one) => one.tab !== tab);
      this.waiting.set(name, rest);
      if (isHolder) rest[0]?.begin();
    }
  }

  private end(name: string, tab: Tab): void {
    const line = this.waiting.get(name) ?? [];
    if (line[0]?.tab !== tab) return;
    this.waiting.set(name, line.slice(1));
    line[1]?.begin();
  }
}

/** Time that passes only when somebody says so. */
class SimulatedClock {
  now = 0;
  private timers: { at: number; every: number | null; run: () => void }[] = [];

  after(ms: number, run: () => void): void {
    this.timers.push({ at: this.now + ms, every: null, run });
  }

  of(tab: Tab): Clock {
    return {
      now: () => this.now,
      wait: (ms) => new Promise((resolve) => this.after(ms, () => tab.isAlive && resolve())),
      every: (ms, run) => {
        const timer = { at: this.now + ms, every: ms, run: () => tab.isAlive && run() };
        this.timers.push(timer);
        return () => (this.timers = this.timers.filter((one) => one !== timer));
      },
    };
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.timers.filter((one) => one.at <= this.now);
    this.timers = this.timers.filter((one) => one.at > this.now || one.every !== null);
    for (const one of due) {
      if (one.every !== null) one.at = this.now + one.every;
      one.run();
    }
  }
}

export class Tab {
  isAlive = true;
  /** Whose page this is. */
  author: string | null = null;
  readonly outbox: Outbox;
  /** Assignments that this tab has submitted, the last one last. */
  readonly submitted: string[] = [];

  constructor(readonly browser: SimulatedBrowser) {
    const area = new MemoryStorage(
      browser.notes,
      () => this.isAlive,
      () => browser.tell(this),
    );
    const database = new TabDatabase(browser.factory, this);
    const { server } = browser;
    this.outbox = new Outbox({
      store: new UnsentStore(area, database),
      server: {
        send: (item) =>
          this.doing(async () => {
            await Promise.resolve();
            return server.receive(item, this.isAlive);
          }),
        sendLast: (item) => {
          try {
            server.receive(item, false);
          } catch {
            // Nobody hears of it.
          }
        },
        whoAmI: () => this.doing(() => Promise.resolve().then(() => server.whoAmI())),
      },
      turns: browser.turnsOf(this, database),
      later: (run, ms) => {
        browser.clock.after(ms, () => this.isAlive && run());
        return 0 as unknown as ReturnType<typeof setTimeout>;
      },
      now: () => browser.clock.now,
      tellOthers: () => browser.tell(this),
    });
  }

  /** Counts what is under way; the answer never reaches a dead tab. */
  async doing<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.isAlive) return never();
    this.browser.underWay += 1;
    const [done] = await Promise.allSettled([work()]);
    this.browser.underWay -= 1;
    if (!this.isAlive) return never();
    if (done.status === "fulfilled") return done.value;
    throw done.reason as Error;
  }
}

export class SimulatedBrowser {
  readonly notes = new Map<string, string>();
  readonly factory = new IDBFactory();
  readonly clock = new SimulatedClock();
  private readonly locks = new SimulatedLocks();
  tabs: Tab[] = [];
  underWay = 0;
  /** IndexedDB refuses everything. */
  isStorageClosed = false;

  constructor(
    readonly server: SimulatedServer,
    /** Web Locks are missing on plain http. */
    private readonly hasLocks: boolean,
  ) {}

  turnsOf(tab: Tab, database: Database): Turns {
    return this.hasLocks
      ? new LockedTurns(this.locks.of(tab))
      : new LeasedTurns(database, this.clock.of(tab));
  }

  /** A page of whoever is signed in. */
  open(): Tab {
    const tab = new Tab(this);
    this.tabs.push(tab);
    this.look(tab);
    return tab;
  }

  /** The page asks who is signed in, as it does when it is looked at, and sends what waits. */
  look(tab: Tab): void {
    const { cookie } = this.server;
    if (cookie !== null) {
      tab.author = cookie;
      void tab.outbox.open(cookie);
    }
    void tab.outbox.flush();
  }

  kill(tab: Tab): void {
    tab.isAlive = false;
    // It may have heard the answer and not have done anything about it.
    for (const { says } of this.server.stored) this.server.unanswered.add(says);
    this.tabs = this.tabs.filter((one) => one !== tab);
    this.locks.free(tab);
  }

  tell(from: Tab): void {
    for (const tab of this.tabs)
      if (tab !== from) setImmediate(() => tab.isAlive && void tab.outbox.reload());
  }

  /** Lets so many turns of the event loop pass. */
  async tick(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits until nothing is under way; tabs that keep each other busy for ever are a fault. */
  async settle(): Promise<void> {
    let turns = 0;
    for (let quiet = 0; quiet < 3; turns += 1) {
      if (turns > MOST_TURNS) throw new Error("the tabs never come to rest");
      await this.tick(1);
      quiet = this.underWay === 0 ? quiet + 1 : 0;
    }
  }

  /** Everything that waits in this browser, in a place that outlasts a tab or in a tab. */
  async kept(userId: string): Promise<Set<string>> {
    const notes = [...this.notes].filter(([key]) => key.startsWith(`podium.outbox.${userId}.`));
    const records = await new Database(this.factory).of("judgments", userId);
    const ofTabs = this.tabs.flatMap((tab) => tab.outbox.all);
    const all = [...notes.map(([, text]) => JSON.parse(text) as unknown), ...records, ...ofTabs];
    return new Set((all as Unsent[]).filter((item) => item.userId === userId).map(saysOf));
  }
}
