/**
 * Which tabs live: each holds a lock of its own, which the browser frees when its tab dies, be it that
 * it crashed or was thrown away for its memory. A tab that sleeps keeps it. On plain http there are no
 * locks, and nobody hears of a death.
 */

/** What is used of the browser's LockManager. */
export type Locks = Pick<LockManager, "request">;

export interface Lives {
  /** This tab lives, and has said so once `onBegun` is called, until the function returned is called. */
  begin: (tab: string, onBegun: () => void) => () => void;
  /** Calls once a tab is dead, unless the function returned was called before. */
  afterDeath: (tab: string, onDeath: () => void) => () => void;
}

/** A tab that is closed or reloaded says so, which may arrive after its lock was freed. */
const WORD_MS = 500;

const lockOf = (tab: string) => `podium.tab.${tab}`;

export class LockedLives implements Lives {
  constructor(private readonly locks: Locks) {}

  begin(tab: string, onBegun: () => void): () => void {
    let isOver = false;
    let end = () => {
      isOver = true;
    };
    const life = () =>
      new Promise<void>((resolve) => {
        if (isOver) return resolve();
        end = resolve;
        onBegun();
      });
    this.locks.request(lockOf(tab), life).catch(() => undefined);
    return () => end();
  }

  afterDeath(tab: string, onDeath: () => void): () => void {
    const watch = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const free = () => {
      if (!watch.signal.aborted) timer = setTimeout(onDeath, WORD_MS);
    };
    this.locks.request(lockOf(tab), { signal: watch.signal }, free).catch(() => undefined);
    return () => {
      watch.abort();
      clearTimeout(timer);
    };
  }
}

/** Null on plain http, whatever the types say. */
export function livesOfBrowser(): Lives | null {
  const { locks } = navigator as { locks?: Locks };
  return locks === undefined ? null : new LockedLives(locks);
}
