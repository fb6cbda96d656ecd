/** What came after its form or page was closed: nobody has seen it, so the frame of the pages says it. */
import { useSyncExternalStore } from "react";

export interface Unseen {
  /** A sentence: what was not done, or what was done and cannot be shown. */
  readonly what: string;
  /** Null if it was done. */
  readonly error: Error | null;
  /** Null if another try is of no use. */
  readonly again: (() => void) | null;
  /** Whether the answer to another try can be shown; without it: always. */
  readonly isOfUse?: () => boolean;
}

let all: readonly Unseen[] = [];
const listeners = new Set<() => void>();

function become(next: readonly Unseen[]): void {
  all = next;
  for (const tell of listeners) tell();
}

const offered = (one: Unseen): Unseen =>
  one.again !== null && one.isOfUse?.() === false ? { ...one, again: null } : one;

export const tellUnseen = (one: Unseen): void => become([...all, offered(one)]);
export const dropUnseen = (one: Unseen): void => become(all.filter((other) => other !== one));
/** Whoever signs in next has not asked for it. */
export const dropAllUnseen = (): void => become([]);
/** A page has gone: what it alone could show is not offered any more. */
export const withdrawTries = (): void => become(all.map(offered));

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export const useUnseen = (): readonly Unseen[] => useSyncExternalStore(subscribe, () => all);
