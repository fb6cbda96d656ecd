/** Leases at hand and those that were granted since, as one list; pure. */
import type { Assignment } from "@/api/types";

/** Until when a lease lasts, in ms. */
export const endOf = (lease: Assignment) => Date.parse(lease.expires_at);

/**
 * Each comparison once, at the place where it was. Of two leases on it the one that ends later is the
 * newer, in whichever order the answers came.
 */
export function joined(leases: readonly Assignment[], more: readonly Assignment[]): Assignment[] {
  const newest = new Map<string, Assignment>();
  for (const one of [...leases, ...more]) {
    const known = newest.get(one.id);
    if (known === undefined || endOf(one) > endOf(known)) newest.set(one.id, one);
  }
  return [...newest.values()];
}
