/**
 * Whether the page is seen and somebody has touched it in the last five minutes.
 *
 * For what stays on screen while the page looks for a comparison: what comes and goes with a look
 * would begin the five minutes anew, and a forgotten tab would never stop.
 */
import { useEffect, useState } from "react";

import { IDLE_AFTER_MS, INPUTS, onInput } from "../presence";

const LOOK_MS = 20_000;

export function useIsThere(): boolean {
  // A tab that was opened behind another waits until it is seen.
  const [isThere, setThere] = useState(() => !document.hidden);
  useEffect(() => {
    let lastInput = Date.now();
    const look = () => setThere(!document.hidden && Date.now() - lastInput < IDLE_AFTER_MS);
    const touch = () => {
      lastInput = Date.now();
      look();
    };
    // It may have been seen since it was drawn, which told nobody.
    look();
    const timer = setInterval(look, LOOK_MS);
    const forget = onInput(touch, [...INPUTS, "focus"]);
    document.addEventListener("visibilitychange", touch);
    return () => {
      clearInterval(timer);
      forget();
      document.removeEventListener("visibilitychange", touch);
    };
  }, []);
  return isThere;
}
