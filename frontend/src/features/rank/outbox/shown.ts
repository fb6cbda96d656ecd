/** Where what is not sent is shown: on a page that ranks, else in the frame around every page. */
import { useLayoutEffect, useSyncExternalStore } from "react";

/** "before": no page shows it any more, but this tab has opened the outbox. */
export type Shown = "never" | "before" | "now";

let pages = 0;
let hasBeenShown = false;
const listeners = new Set<() => void>();

function become(count: number): void {
  pages = count;
  hasBeenShown = true;
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** For a page that shows it itself. */
export function useShownHere(): void {
  // Before the screen is drawn: it is never on it twice.
  useLayoutEffect(() => {
    become(pages + 1);
    return () => become(pages - 1);
  }, []);
}

export const useShown = (): Shown =>
  useSyncExternalStore(subscribe, () => (pages > 0 ? "now" : hasBeenShown ? "before" : "never"));
