/** Until when comparisons that were taken offline are one's own, or that they no longer are. Pure. */
import type { Assignment } from "@/api/types";
import { plural } from "@/lib/format";

type Lease = Pick<Assignment, "expires_at">;

/** Leases that are taken later end later: the first that ends is told. */
const firstEnd = (leases: readonly Lease[]): number =>
  Math.min(...leases.map((one) => Date.parse(one.expires_at)));

const timeOf = (ms: number) =>
  new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

/** `now` in ms. */
export function offlineCount(leases: readonly Lease[], now: number): string {
  const ends = firstEnd(leases);
  const count = `${plural(leases.length, "comparison")} offline`;
  return ends > now ? `${count} until ${timeOf(ends)}` : count;
}

/** What has happened to leases that were taken offline; null while all last. */
export function endedLeases(leases: readonly Lease[], now: number): string | null {
  const over = leases.filter((one) => Date.parse(one.expires_at) <= now);
  if (over.length === 0) return null;
  const which =
    over.length === 1
      ? "The lease of 1 comparison that you took offline"
      : `The leases of ${over.length} comparisons that you took offline`;
  return `${which} ended at ${timeOf(firstEnd(over))}.`;
}
