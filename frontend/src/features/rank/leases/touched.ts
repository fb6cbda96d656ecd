/** Whether somebody works on the comparison on screen: a key, a click or a scroll, not a mere move. */
import { useCallback, useLayoutEffect, useRef } from "react";

import { ACTS, IDLE_AFTER_MS, onInput } from "../presence";

/** The function returned tells whether one was touched in the last five minutes, while it was shown. */
export function useTouched(shownId: string | undefined): (id: string) => boolean {
  const last = useRef<{ readonly id: string; readonly at: number }>(null);
  // Before the screen is drawn: what is seen can be touched.
  useLayoutEffect(() => {
    if (shownId === undefined) return undefined;
    const touch = () => (last.current = { id: shownId, at: Date.now() });
    return onInput(touch, ACTS);
  }, [shownId]);
  return useCallback((id) => {
    const touched = last.current;
    return touched?.id === id && Date.now() - touched.at < IDLE_AFTER_MS;
  }, []);
}
