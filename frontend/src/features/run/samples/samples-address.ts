/** Where the samples of a run are read. Pure. */
import type { Run } from "@/api/types";
import { samplesAt, type SampleKind } from "@/lib/address/samples";

import { isSampler } from "../run-status";

type Logged = Pick<Run, "logs_samples" | "result" | "state">;

/**
 * The address of the samples of a step, by default the newest; null where there can be none. A run
 * that trains nothing logs all of its samples at its end.
 */
export function samplesAddress(
  run: Logged,
  base: string,
  step?: number,
  kind: SampleKind = "rollout",
): string | null {
  if (!run.logs_samples || (isSampler(run) && run.state !== "succeeded")) return null;
  const isNewest = step === undefined || isSampler(run);
  return isNewest ? `${base}/samples` : samplesAt(base, step, kind);
}
