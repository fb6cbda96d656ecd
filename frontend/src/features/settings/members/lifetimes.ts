/** How long the link of an invitation works. */
import type { Lifetime } from "../lifetime-field";

export const USUAL_LIFETIME_S = 7 * 86_400;

export const LIFETIMES: readonly Lifetime[] = [
  ["1 day", 86_400],
  ["7 days", USUAL_LIFETIME_S],
  ["30 days", 30 * 86_400],
];
