/**
 * One tab at a time: work under a name is done by one tab of the browser, the others wait.
 *
 * Web Locks see to it where the page is served with TLS or from this machine. On plain http they are
 * missing, and a lease in IndexedDB takes their place: a tab renews it while it works, and a tab
 * that dies or sleeps loses it after `TERM_MS`. A tab that wakes up after that may work beside
 * another; so what is done in a turn has to be harmless when it is done twice.
 */
import { browserDatabase, type Database } from "./database";
import { randomId } from "./random-id";

export interface Turns {
  /** Waits for the turn, works, and gives the turn back, also if the work fails. */
  take: <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;
}

export const TERM_MS = 10_000;
const RENEW_MS = 3000;
const LOOK_MS = 500;

/** What is used of the browser's LockManager. */
export interface Locks {
  request: (name: string, work: () => Promise<unknown>) => Promise<unknown>;
}

export class LockedTurns implements Turns {
  constructor(private readonly locks: Locks) {}

  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    let done: Promise<Result> | undefined;
    await this.locks.request(name, () => (done = work()));
    return done as Promise<Result>;
  }
}

interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const isLease = (value: unknown): value is Lease =>
  typeof value === "object" && value !== null && "owner" in value && "until" in value;

/** What a lease needs of time; a test has its own. */
export interface Clock {
  now: () => number;
  wait: (ms: number) => Promise<void>;
  /** Calls again and again, until the function returned is called. */
  every: (ms: number, run: () => void) => () => void;
}

const clockOfBrowser: Clock = {
  now: () => Date.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};

export class LeasedTurns implements Turns {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock = clockOfBrowser,
  ) {}

  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const owner = randomId();
    while (!(await this.claim(name, owner))) await this.clock.wait(LOOK_MS);
    const stop = this.clock.every(RENEW_MS, () => {
      this.claim(name, owner).catch(() => undefined);
    });
    try {
      return await work();
    } finally {
      stop();
      await this.giveBack(name, owner);
    }
  }

  /** Whether the turn is this owner's for another term. */
  private async claim(name: string, owner: string): Promise<boolean> {
    try {
      return await this.database.change("turns", name, (before) => {
        const now = this.clock.now();
        const isTaken =
          isLease(before) &&
          before.owner !== owner &&
          // One that ends later than any that is granted now was granted by a clock set back since.
          now < before.until &&
          before.until <= now + TERM_MS;
        const after = isTaken ? before : { name, owner, until: now + TERM_MS };
        return { after, result: !isTaken };
      });
    } catch {
      // Without IndexedDB there is nothing that tabs share but the server, which takes each
      // judgment once.
      return true;
    }
  }

  private async giveBack(name: string, owner: string): Promise<void> {
    const change = (before: unknown) => ({
      after: isLease(before) && before.owner === owner ? undefined : before,
      result: undefined,
    });
    await this.database.change("turns", name, change).catch(() => undefined);
  }
}

// Missing on plain http, whatever the types say.
const locks = (globalThis.navigator as { locks?: Locks } | undefined)?.locks;

export const browserTurns: Turns =
  locks === undefined ? new LeasedTurns(browserDatabase) : new LockedTurns(locks);
