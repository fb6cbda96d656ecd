/**
 * Histograms as the server tells them: which values a bin holds, quantiles, shares of rows; pure.
 *
 * Bin b > 0 holds the values from float32(b << 18) to before float32((b + 1) << 18), as bit
 * patterns; bin -b their negatives; bin 0 what is nearer to 0 than 2^-20.
 */

/** Values of one name, in columns of one or more steps each. */
export interface Spread {
  readonly name: string;
  /** The greatest x of each column; a column begins where the one before ends. */
  readonly x: readonly number[];
  readonly bins: readonly (readonly number[])[];
  readonly counts: readonly (readonly number[])[];
}

const SHIFT = 18;
const SMALLEST = 2 ** -20;

const view = new DataView(new ArrayBuffer(4));

/** Where the bin of a positive number begins. */
function startOf(bin: number): number {
  view.setUint32(0, bin << SHIFT);
  return view.getFloat32(0);
}

/** Least and greatest value that a bin may hold. */
export function edgesOf(bin: number): readonly [number, number] {
  if (bin === 0) return [-SMALLEST, SMALLEST];
  const [near, far] = [startOf(Math.abs(bin)), startOf(Math.abs(bin) + 1)];
  return bin > 0 ? [near, far] : [-far, -near];
}

/**
 * What a value in a bin is told as: the end next to 0, at most 1/32 too near to it.
 *
 * Rewards such as 0, 0.5 and 1 and lengths up to 64 are exactly that.
 */
export function valueOf(bin: number): number {
  const near = bin === 0 ? 0 : startOf(Math.abs(bin));
  return bin < 0 ? -near : near;
}

const totalOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

/** What is told of one column. */
export interface Summary {
  readonly x: number;
  readonly n: number;
  /** Values by quantile, those of `QUANTILES`. */
  readonly quantiles: readonly number[];
}

/** Least, 5 %, quarter, median, three quarters, 95 %, greatest. */
export const QUANTILES = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1] as const;

/** Of each column the smallest values that have these shares at or below them. */
export function summariesOf({ x, bins, counts }: Spread): Summary[] {
  return x.map((at, column) => {
    const of = counts[column] ?? [];
    const n = totalOf(of);
    return { x: at, n, quantiles: QUANTILES.map((q) => quantile(bins[column] ?? [], of, n, q)) };
  });
}

function quantile(
  bins: readonly number[],
  counts: readonly number[],
  n: number,
  share: number,
): number {
  const wanted = Math.max(1, Math.ceil(share * n));
  let below = 0;
  const place = counts.findIndex((count) => (below += count) >= wanted);
  return valueOf(bins[place] ?? 0);
}

/**
 * What part of a column's values lies in each of so many equal rows between `low` and `high`.
 *
 * The values of a bin are spread evenly over it, as far as it is wider than a row. What lies beyond
 * is in the first or the last row, so that nothing is left out.
 */
export function sharesOf(
  bins: readonly number[],
  counts: readonly number[],
  [low, high]: readonly [number, number],
  nRows: number,
): Float64Array {
  const shares = new Float64Array(nRows);
  const n = totalOf(counts);
  const scale = nRows / (high - low);
  const add = (row: number, share: number) => {
    const inside = Math.min(nRows - 1, Math.max(0, row));
    shares[inside] = (shares[inside] ?? 0) + share;
  };
  bins.forEach((bin, place) => {
    const [from, to] = edgesOf(bin).map((edge) => (edge - low) * scale) as [number, number];
    const share = (counts[place] ?? 0) / n;
    if (to <= 0 || from >= nRows) {
      add(from, share);
      return;
    }
    const width = Math.max(to - from, Number.MIN_VALUE);
    for (let row = Math.floor(from); row < to; row += 1)
      add(row, (share * (Math.min(to, row + 1) - Math.max(from, row))) / width);
  });
  return shares;
}

const ROOM = 0.08;
/** So much of all values may lie beyond what is drawn, on each side: some lie very far. */
const BEYOND = 0.005;

/** Between which values nearly all of all columns lie, with some room around their bins. */
export function reachOf({ bins, counts }: Spread): readonly [number, number] {
  const all = new Map<number, number>();
  bins.forEach((of, column) =>
    of.forEach((bin, place) => all.set(bin, (all.get(bin) ?? 0) + (counts[column]?.[place] ?? 0))),
  );
  const sorted = [...all].sort(([one], [other]) => one - other);
  const n = totalOf(sorted.map(([, count]) => count));
  let below = 0;
  const known = sorted.flatMap(([bin, count]) => {
    below += count;
    return below > BEYOND * n && below - count < (1 - BEYOND) * n ? [bin] : [];
  });
  const [low, high] = [edgesOf(known[0] ?? 0)[0], edgesOf(known.at(-1) ?? 0)[1]];
  const room = ROOM * (high - low);
  return [low - room, high + room];
}

/** The root of a share, so that one value of a hundred is seen, too. */
export const strengthOf = (share: number, most: number): number => Math.sqrt(share / most);

/** Half-way between the places of columns, so that each stands around its own. */
export function bordersOf(places: readonly number[], lone: number): number[] {
  const between = places.slice(1).map((place, i) => (place + (places[i] ?? place)) / 2);
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const [begin = first - lone, end = last + lone] = [between[0], between.at(-1)];
  const isLone = between.length === 0;
  return [isLone ? begin : 2 * first - begin, ...between, isLone ? end : 2 * last - end];
}
