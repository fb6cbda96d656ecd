/** Relative times with the absolute one on hover; one timer for the whole page. */
import { useSyncExternalStore } from "react";

import { ago } from "@/lib/format";

let current = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function subscribe(listener: () => void): () => void {
  // While nobody listened the clock stood still.
  if (listeners.size === 0) current = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    current = Date.now();
    for (const one of listeners) one();
  }, 10_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const now = (): number => current;

export function useNow(): number {
  return useSyncExternalStore(subscribe, now, now);
}

export function Ago({ at }: { at: string }) {
  const moment = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="nowrap">
      {ago(at, Math.max(moment, Date.parse(at)))}
    </time>
  );
}
