/** Reward against KL in numbers: a row for each point, for a table and a file; pure. */
import type { Cell } from "@/lib/files/csv";
import { number } from "@/lib/format";

import type { Path } from "./path";

export const HEADS = ["path", "step", "KL, nats", "reward", "low", "high", "steps"] as const;

/**
 * Low and high are the ends of the 95 % interval; without one they are empty. KL and reward are
 * means of so many steps, up to the one that is named; empty for the mean of several runs.
 */
export function rowsOf(paths: readonly Path[]): Cell[][] {
  return paths.flatMap(({ label, points, isMean = false }) =>
    points.map(({ step, kl, reward, low, high, n = 1 }) => [
      label,
      step,
      kl,
      reward,
      ...(low < high ? [low, high] : ["", ""]),
      isMean ? "" : n,
    ]),
  );
}

/** What a file of these rows has. */
export function valuesTextOf(paths: readonly Path[]): string {
  const known = paths.filter(({ isMean = false }) => !isMean);
  // Of means of runs alone nobody knows over how many steps they are.
  if (known.length === 0) return "what is drawn";
  const most = Math.max(1, ...known.flatMap(({ points }) => points.map(({ n = 1 }) => n)));
  return most === 1 ? "exact, all values" : `means of up to ${number(most)} steps`;
}
