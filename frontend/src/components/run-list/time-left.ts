/** How long the steps of a run still take. Pure. */
import type { Run } from "@/api/types";
import { duration } from "@/lib/format";

/**
 * "3 min left"; null if no time was told or all steps are done. The trainer counts steps alone: of
 * the evaluation, the saving and whatever else comes after the last step it tells the phase and no
 * time.
 */
export function timeLeft({ step, steps, eta_s: eta }: Run["progress"]): string | null {
  return eta === null || step >= steps ? null : `${duration(eta)} left`;
}
