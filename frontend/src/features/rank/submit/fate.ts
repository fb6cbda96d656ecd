/** What has become of a judgment or a skip that was submitted; pure. */
import type { End, OutboxStatus, Reviewed } from "../outbox/outbox";
import type { Unsent } from "../outbox/unsent-item";

export type Fate = "held" | "sending" | "waiting" | "refused" | "reviewed" | "sent" | End;

export interface Outgoing {
  readonly items: readonly Unsent[];
  readonly status: OutboxStatus;
  readonly reviewed: readonly Reviewed[];
  readonly heldKey: string | null;
  /** How what was refused has ended. */
  readonly endOf: (key: string) => End | null;
}

export function fateOf(key: string, outgoing: Outgoing): Fate {
  const { items, status, reviewed, heldKey, endOf } = outgoing;
  const item = items.find((one) => one.key === key);
  if (key === heldKey) return "held";
  if (item === undefined && reviewed.some((one) => one.item.key === key)) return "reviewed";
  if (item === undefined) return endOf(key) ?? "sent";
  if (item.refusal !== null) return "refused";
  return status === "offline" || status === "signed-out" ? "waiting" : "sending";
}

/** The same words wherever one is told. */
export const FATE_WORDS = {
  waiting: "Not sent yet",
  refused: "Rejected",
  discarded: "Discarded",
  reviewed: "Kept for review",
} as const;
