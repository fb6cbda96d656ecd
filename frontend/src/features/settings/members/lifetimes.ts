/** How long the link of an invitation works. */
import type { Invitation } from "@/api/types";

import type { Lifetime } from "../lifetime-field";

const DAY_S = 86_400;
export const USUAL_LIFETIME_S = 7 * DAY_S;
const OFFERED_S = [DAY_S, USUAL_LIFETIME_S, 30 * DAY_S];

export const LIFETIMES: readonly Lifetime[] = OFFERED_S.map((seconds) => [
  seconds === DAY_S ? "1 day" : `${seconds / DAY_S} days`,
  seconds,
]);

/**
 * The longest lifetime on offer that its link may have been given. One that was renewed ends by that
 * much later than its first lifetime says, so this is what a form begins with, for somebody to see.
 */
function lifetimeOf({ created_at: made, expires_at: ends }: Invitation): number {
  const longest = (Date.parse(ends) - Date.parse(made)) / 1000;
  return OFFERED_S.findLast((seconds) => seconds <= longest) ?? DAY_S;
}

/** That of all these links, or the usual one where theirs differ. */
export function lifetimeOfAll(invitations: readonly Invitation[]): number {
  const [first, ...others] = new Set(invitations.map(lifetimeOf));
  return first === undefined || others.length > 0 ? USUAL_LIFETIME_S : first;
}
