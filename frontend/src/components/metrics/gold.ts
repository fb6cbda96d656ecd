/** Evaluations that were made elsewhere: `gold/NAME`, higher is better. Pure. */
import { words } from "@/lib/format";

const FIRST: readonly string[] = ["gold/reward", "gold/win_rate"];
const GOLD = /^gold\/(?!.*_(?:low|high)$)/;

const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

/** Those of these metrics that are, without the ends of intervals; what decides a verdict first. */
export const goldOf = (names: Iterable<string>): string[] =>
  [...names]
    .filter((name) => GOLD.test(name))
    .sort()
    .sort((a, b) => rank(a) - rank(b));

/** gold/win_rate -> "gold win rate". */
export const goldTitle = (name: string): string => words(name.replace("/", " "));
