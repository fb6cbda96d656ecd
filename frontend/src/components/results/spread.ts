/** Where the seeds and the interval of a cell lie on the scale of its column. Pure. */
import type { ResultsCell } from "@/api/types";

export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** From the least to the greatest of all seeds and ends of intervals; null if all are one value. */
export function scaleOf(cells: readonly (ResultsCell | null | undefined)[]): Scale | null {
  const values = cells.flatMap((cell) =>
    cell == null
      ? []
      : [
          ...cell.points.map((point) => point.value),
          ...(cell.interval == null ? [] : [cell.interval.low, cell.interval.high]),
        ],
  );
  const low = Math.min(...values);
  const high = Math.max(...values);
  return values.length > 0 && high > low ? { low, high } : null;
}

/** A value as a share of the scale. */
export const shareOf = (value: number, scale: Scale): number =>
  (value - scale.low) / (scale.high - scale.low);
