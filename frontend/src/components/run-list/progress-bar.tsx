/** How far a run is: its steps that are done, as a share of all. */
import type { Run } from "@/api/types";

export function ProgressBar({ run }: { run: Run }) {
  return (
    <span className="bar">
      <i style={{ width: `${percentOf(run)}%` }} />
    </span>
  );
}

export function percentOf({ state, progress: { step, steps } }: Run): number {
  if (state === "succeeded") return 100;
  return steps > 0 ? Math.min(100, (100 * step) / steps) : 0;
}
