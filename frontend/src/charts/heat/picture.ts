/** Heat maps as parts of a picture: cells, and what is drawn over them; pure. */
import type { Picture } from "../export/svg";
import type { Cell } from "../export/cells";
import { verticalScale, type Scale } from "../export/scale";
import { whole, WHOLE_DISTANCES } from "../ticks";
import { bordersOf, reachOf, sharesOf, strengthOf, type Spread, type Summary } from "./bins";
import { columnsOf, strengthOfShare, type Grid } from "./grid";

type Drawn = Pick<Picture, "data" | "lines" | "bands" | "whiskers" | "cells" | "range"> &
  Partial<Pick<Picture, "up">>;

const COLOUR = "--s1";
/** As many as a picture has room for. */
const N_ROWS = 60;
const LONE = 0.5;

/** Places of quantiles in a summary, and how they are drawn. */
const QUANTILES = [
  [1, { label: "5 %", colour: "--ink-2", width: 1, isDashed: true }],
  [3, { label: "median", colour: "--ink", width: 1.6 }],
  [5, { label: "95 %", colour: "--ink-2", width: 1, isDashed: true }],
] as const;

/** How values are spread, column by column, with median, 5 and 95 %. */
export function pictureOfSpread(
  spread: Spread,
  summaries: readonly Summary[],
  range: Picture["range"],
): Drawn {
  const reach = reachOf(spread);
  const [low, high] = reach;
  const columns = spread.bins.map((bins, i) =>
    sharesOf(bins, spread.counts[i] ?? [], reach, N_ROWS),
  );
  const most = columns.reduce((sofar, shares) => Math.max(sofar, ...shares), 0);
  const borders = bordersOf(spread.x, LONE);
  const edgeOf = (row: number) => low + ((high - low) * row) / N_ROWS;
  const cells = columns.flatMap((shares, i) =>
    [...shares].flatMap((share, row): Cell[] => {
      if (share === 0) return [];
      const x = [borders[i] ?? 0, borders[i + 1] ?? 0] as const;
      const y = [edgeOf(row), edgeOf(row + 1)] as const;
      return [{ x, y, colour: COLOUR, strength: strengthOf(share, most) }];
    }),
  );
  const inside = (value = low) => Math.min(high, Math.max(low, value));
  return {
    data: [
      [...spread.x],
      ...QUANTILES.map(([place]) => summaries.map(({ quantiles }) => inside(quantiles[place]))),
    ],
    lines: QUANTILES.map(([, line]) => line),
    ...{ bands: [], whiskers: [], cells },
    up: verticalScale(reach, false),
    range: range ?? [borders[0] ?? 0, borders.at(-1) ?? 1],
  };
}

const MOST_TICKS = 8;

/** Rows of values over steps, the first on top, by their place. */
export function pictureOfGrid(grid: Grid): Drawn {
  const { rows, width } = grid;
  const { begin, columns } = columnsOf(grid);
  // A column stands around its steps, not to the right of them.
  const edgeOf = (column: number) => column * width - 0.5;
  const cells = rows.flatMap((row, i) =>
    row.x.flatMap((step, place): Cell[] => {
      const share = row.shares[place] ?? null;
      if (share === null) return [];
      const column = Math.floor(step / width);
      const x = [edgeOf(column), edgeOf(column + 1)] as const;
      return [{ x, y: [i + 1, i], colour: COLOUR, strength: strengthOfShare(share) }];
    }),
  );
  return {
    ...{ data: [[]], lines: [], bands: [], whiskers: [], cells },
    up: placeScale(rows.length),
    range: [edgeOf(begin), edgeOf(begin + columns)],
  };
}

/** Numbers from 1 on, downwards. */
function placeScale(n: number): Scale {
  const distance = WHOLE_DISTANCES.find((one) => n / one <= MOST_TICKS) ?? n;
  const numbers = Array.from({ length: Math.floor(n / distance) }, (_, i) => (i + 1) * distance);
  const all = [...new Set([1, ...numbers])];
  const ticks = all.map((one) => ({ at: one - 0.5, text: whole(one) }));
  return { low: Math.max(1, n), high: 0, isLog: false, ticks, isNames: true };
}
