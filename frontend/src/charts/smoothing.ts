/** Smoothing of a curve; drawn over the raw line, never instead of it. */

/** Of charts before anybody has chosen. */
export const USUAL_SMOOTHING = 0.6;

/** What an address says of it; the usual one where it says nothing, or nonsense. */
export function smoothingOf(text: string | null): number {
  const factor = Number(text ?? "-");
  return factor >= 0 && factor < 1 ? factor : USUAL_SMOOTHING;
}

export type Column = readonly (number | null)[];

/**
 * Debiased exponential moving average: the first point is itself, not pulled to zero.
 *
 * `factor` in [0, 1) is the weight of the past; gaps (null) stay gaps and are not averaged over.
 */
export function smooth(values: Column, factor: number): (number | null)[] {
  if (factor <= 0) return [...values];
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    sum = factor * sum + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    return sum / weight;
  });
}
