/** Where the cells of rows over steps stand, and how strong they are; pure. */

export interface GridRow {
  readonly label: string;
  readonly x: readonly number[];
  /** From 0 to 1; null = not known. */
  readonly shares: readonly (number | null)[];
}

export interface Grid {
  readonly rows: readonly GridRow[];
  /** Steps of a column, and the first and last column's steps. */
  readonly width: number;
  readonly first: number;
  readonly last: number;
}

/** What was asked and never right is seen, too. */
const FAINTEST = 0.1;

export const strengthOfShare = (share: number): number =>
  FAINTEST + (1 - FAINTEST) * Math.min(1, Math.max(0, share));

/** The first column, and how many there are. */
export function columnsOf({ width, first, last }: Grid) {
  const begin = Math.floor(first / width);
  return { begin, columns: Math.floor(last / width) - begin + 1 };
}
