/** Whether a part of a page is still there: what is asked after an answer, when somebody may have left. */
import { useCallback, useLayoutEffect, useRef } from "react";

export function useIsShown(): () => boolean {
  const isShown = useRef(false);
  // With what is drawn: an answer may come at once.
  useLayoutEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return useCallback(() => isShown.current, []);
}
