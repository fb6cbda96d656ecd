/** How wide an element is, for pictures that fill it. */
import { useEffect, useRef, useState } from "react";

export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth)));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, width] as const;
}
