/** Whether a log shows its newest line as it grows: until somebody scrolls up. Pure. */

/** Where a box is scrolled to, in pixels. */
export interface Place {
  readonly top: number;
  /** What lies below of it. */
  readonly left: number;
}

/** Less than a line: rounding, or a zoomed page. */
const AT_END_PX = 8;

/**
 * After a scroll: up stops it, down to the end begins it again. A box that becomes shorter scrolls
 * by itself, and changes nothing.
 */
export function followsAfter(
  follows: boolean,
  before: Place | null,
  { top, left }: Place,
): boolean {
  const isAtEnd = left < AT_END_PX;
  if (before === null || top === before.top) return follows;
  return top < before.top ? follows && isAtEnd : follows || isAtEnd;
}
