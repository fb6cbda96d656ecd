/** One judgment on its way to the server, and the file in which a person can take it away. */
import type { JudgmentBody } from "@/api/types";

export interface Unsent {
  readonly assignmentId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly body: JudgmentBody;
  /** The idempotency key: sent twice, it is stored once. */
  readonly key: string;
  /** Milliseconds since the epoch: they are sent in this order. */
  readonly submittedAt: number;
  /** It is not sent before this time (as above): until then its author may take it back. */
  readonly heldUntil?: number;
  /** Why the server will not take it; null while it is on its way. */
  readonly refusal: string | null;
}

/** The text of a JSON file with everything that is needed to send them by hand. */
export function fileOf(items: readonly Unsent[]): string {
  const judgments = items.map((item) => ({
    assignment_id: item.assignmentId,
    project_id: item.projectId,
    user_id: item.userId,
    submitted_at: new Date(item.submittedAt).toISOString(),
    refusal: item.refusal,
    idempotency_key: item.key,
    judgment: item.body,
  }));
  return `${JSON.stringify({ format: "podium-unsent-judgments", judgments }, null, 2)}\n`;
}
