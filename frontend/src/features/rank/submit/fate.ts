/** What has become of a judgment or a skip that was submitted; pure. */
import type { OutboxStatus, Reviewed } from "../outbox/outbox";
import type { Unsent } from "../outbox/unsent-item";

export type Fate = "held" | "sending" | "waiting" | "refused" | "reviewed" | "sent";

export interface Outgoing {
  readonly items: readonly Unsent[];
  readonly status: OutboxStatus;
  readonly reviewed: readonly Reviewed[];
  readonly heldKey: string | null;
}

export function fateOf(key: string, { items, status, reviewed, heldKey }: Outgoing): Fate {
  const item = items.find((one) => one.key === key);
  if (key === heldKey) return "held";
  if (item === undefined) return reviewed.some((one) => one.item.key === key) ? "reviewed" : "sent";
  if (item.refusal !== null) return "refused";
  return status === "offline" || status === "signed-out" ? "waiting" : "sending";
}

/** The same words wherever one is told. */
export const FATE_WORDS = {
  waiting: "Not sent yet",
  refused: "Not accepted",
  reviewed: "Kept for review",
} as const;
