/** A value that changes often, taken over at most so often. */
import { useEffect, useState } from "react";

export function useSlowly<Value>(value: Value, everyMs: number): Value {
  const [{ taken, at }, setTaken] = useState(() => ({ taken: value, at: 0 }));
  useEffect(() => {
    if (value === taken) return;
    const take = () => setTaken({ taken: value, at: performance.now() });
    const timer = setTimeout(take, Math.max(0, at + everyMs - performance.now()));
    return () => clearTimeout(timer);
  }, [value, taken, at, everyMs]);
  return taken;
}
