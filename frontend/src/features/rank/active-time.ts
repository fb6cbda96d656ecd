/** Time spent on a comparison: only while the page is seen and somebody did something within a minute. */
import { useEffect, useRef } from "react";

const IDLE_AFTER_MS = 60_000;
const TICK_MS = 500;

/** The function returned tells the milliseconds since `id` came on screen. */
export function useActiveTime(id: string | undefined): () => number {
  const spent = useRef(0);
  useEffect(() => {
    spent.current = 0;
    let lastInput = Date.now();
    const touch = () => {
      lastInput = Date.now();
    };
    const timer = setInterval(() => {
      const isActive = !document.hidden && Date.now() - lastInput < IDLE_AFTER_MS;
      if (isActive) spent.current += TICK_MS;
    }, TICK_MS);
    const inputs = ["keydown", "pointermove", "pointerdown", "wheel"] as const;
    for (const input of inputs) window.addEventListener(input, touch, { passive: true });
    return () => {
      clearInterval(timer);
      for (const input of inputs) window.removeEventListener(input, touch);
    };
  }, [id]);
  return () => spent.current;
}
