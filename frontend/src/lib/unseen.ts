/** What was refused after its form was closed: nobody has seen it, so the frame of the pages says it. */
import { useSyncExternalStore } from "react";

export interface Unseen {
  /** A sentence: what was not done. */
  readonly what: string;
  readonly error: Error;
  readonly again: () => void;
}

let all: readonly Unseen[] = [];
const listeners = new Set<() => void>();

function become(next: readonly Unseen[]): void {
  all = next;
  for (const tell of listeners) tell();
}

export const tellUnseen = (one: Unseen): void => become([...all, one]);
export const dropUnseen = (one: Unseen): void => become(all.filter((other) => other !== one));
/** Whoever signs in next has not asked for it. */
export const dropAllUnseen = (): void => become([]);

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export const useUnseen = (): readonly Unseen[] => useSyncExternalStore(subscribe, () => all);
