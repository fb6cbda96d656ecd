/** The state of a run as a pill: one colour per meaning. */
import type { RunState } from "@/api/types";

const TONES: Readonly<Record<RunState, string>> = {
  queued: "",
  running: "active animated",
  stopping: "warn animated",
  paused: "warn",
  // It ran to its end; whether that is good, its verdict says.
  succeeded: "done",
  failed: "bad",
  crashed: "bad",
  cancelled: "",
};

export function StatePill({ state, title }: { state: RunState; title?: string }) {
  return (
    <span className={`pill ${TONES[state]}`} title={title}>
      {state}
    </span>
  );
}
