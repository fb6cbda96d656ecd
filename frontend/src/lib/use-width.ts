/** How wide an element is, for pictures that fill it. */
import { useLayoutEffect, useRef, useState } from "react";

const LEAST_PX = 240;

/**
 * It is measured while it is drawn: nobody ever sees a picture of another width, which could be wider
 * than the screen. What is drawn to be measured has the least width, since that stretches nothing.
 */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(LEAST_PX);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => setWidth(Math.max(LEAST_PX, element.clientWidth));
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, width] as const;
}
