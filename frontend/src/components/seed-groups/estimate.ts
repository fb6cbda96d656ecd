/** What a number of several seeds is called, and how it is drawn: one rule for tables and curves. Pure. */
import { plural } from "@/lib/format";

/** Two values say nothing of their spread: they are shown as they are. */
export const FEWEST_FOR_MEAN = 3;

/** "mean of 5 seeds", "IQM of 12 seeds". */
export const estimateText = (isIqm: boolean, n: number): string =>
  `${isIqm ? "IQM" : "mean"} of ${plural(n, "seed")}`;
