/** What is drawn as reward against KL: paths of points. */
import type { Curve } from "../live-curves";

/** What a path is made of: columns of one length. */
export interface Column {
  readonly x: readonly number[];
  readonly values: readonly (number | null)[];
  /** How many steps each value is the mean of; absent = one. */
  readonly n?: readonly number[];
}

/** Of an evaluation what was measured last in each bucket, of training the mean of the bucket. */
export function columnOf(curve: Curve | undefined, isEvaluated: boolean): Column | undefined {
  if (curve === undefined) return undefined;
  const { x, last, mean, nNan } = curve;
  if (isEvaluated) return { x, values: last };
  return { x, values: mean, n: curve.n.map((one, i) => one - (nNan[i] ?? 0)) };
}

export interface PathPoint {
  readonly step: number;
  readonly kl: number;
  readonly reward: number;
  /** Its 95 % interval; the reward itself where it has none. */
  readonly low: number;
  readonly high: number;
  /** How many steps, up to this one, reward and KL are means of; absent = one. */
  readonly n?: number;
}

/** A KL by its name, and the points at the steps that have it and the reward. */
export interface Paired {
  readonly cost: string;
  readonly points: readonly PathPoint[];
}

/** The first cost that was measured at steps of the reward. */
export function firstPaired(
  costs: readonly string[],
  pair: (cost: string) => readonly PathPoint[],
): Paired | undefined {
  return costs
    .map((cost) => ({ cost, points: pair(cost) }))
    .find(({ points }) => points.length > 0);
}

export interface Path {
  /** What is handed back when one of its points is picked. */
  readonly id: string;
  readonly label: string;
  /** What it is called where there is no room for the label; absent = nothing. */
  readonly short?: string;
  /** Name of a CSS variable. */
  readonly colour: string;
  readonly points: readonly PathPoint[];
  /** Few points that were measured on purpose, each with its interval; else one for each step. */
  readonly isEvaluated: boolean;
  /** Of several runs: over how many steps its points are is not known. */
  readonly isMean?: boolean;
  /** One of several that another path is the mean of. */
  readonly isFaint?: boolean;
}
