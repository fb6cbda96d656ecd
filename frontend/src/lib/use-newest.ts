/**
 * State whose newest value an event can read: several events may come before React has drawn what the
 * first of them changed.
 */
import { useCallback, useRef, useState } from "react";

/** What is drawn, what is newest, and how it becomes another. */
export type Newest<T> = readonly [T, () => T, (next: T) => void];

export function useNewest<T>(first: () => T): Newest<T> {
  const [drawn, setDrawn] = useState(first);
  const kept = useRef(drawn);
  const newest = useCallback(() => kept.current, []);
  const become = useCallback((next: T) => {
    kept.current = next;
    setDrawn(() => next);
  }, []);
  return [drawn, newest, become];
}
