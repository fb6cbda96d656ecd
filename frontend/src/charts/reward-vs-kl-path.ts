/** What is drawn as reward against KL: paths of points. */

/** What a path is made of: columns of one length. */
export interface Column {
  readonly x: readonly number[];
  readonly values: readonly (number | null)[];
}

export interface PathPoint {
  readonly step: number;
  readonly kl: number;
  readonly reward: number;
  /** Its 95 % interval; the reward itself where it has none. */
  readonly low: number;
  readonly high: number;
}

export interface Path {
  /** What is handed back when one of its points is picked. */
  readonly id: string;
  readonly label: string;
  /** Name of a CSS variable. */
  readonly colour: string;
  readonly points: readonly PathPoint[];
  /** Few points that were measured on purpose, each with its interval; else one for each step. */
  readonly isEvaluated: boolean;
  /** One of several that another path is the mean of. */
  readonly isFaint?: boolean;
}
