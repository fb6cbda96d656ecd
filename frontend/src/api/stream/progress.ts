/** What an event of the kind `progress` says of a run. */
import type { Run } from "../types";
import type { LiveEvent } from "./messages";

export function progressOf(data: LiveEvent["data"]): Partial<Run["progress"]> {
  const { step, steps, phase, eta_s } = data as Partial<Run["progress"]>;
  return {
    ...(typeof step === "number" && { step }),
    ...(typeof steps === "number" && { steps }),
    ...(typeof phase === "string" && { phase }),
    eta_s: eta_s ?? null,
  };
}
