/**
 * Whether Podium answers: what the last request says.
 *
 * What the browser says of its network decides nothing. Without internet it still reaches a Podium on
 * its own machine, and with internet it does not reach one that has stopped.
 */
import { useSyncExternalStore } from "react";

/** A proxy's own words for a service behind it that does not answer. */
const OF_A_PROXY: readonly number[] = [502, 504];

let lostAt: Date | null = null;
const listeners = new Set<() => void>();

function become(next: Date | null): void {
  lostAt = next;
  for (const tell of listeners) tell();
}

/** Whether it was not Podium that answered with this status; null = nobody did. */
export const isUnanswered = (status: number | null): boolean =>
  status === null || OF_A_PROXY.includes(status);

/** A request has ended: with an answer of this status, or with none (null). */
export function noteAnswer(status: number | null): void {
  const isLost = isUnanswered(status);
  if (isLost !== (lostAt !== null)) become(isLost ? new Date() : null);
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Since when nothing is answered; null while Podium answers. */
export function useLostConnection(): Date | null {
  return useSyncExternalStore(subscribe, () => lostAt);
}
