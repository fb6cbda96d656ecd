/**
 * The service as far as an outbox knows it, in a few honest rules: sessions, members, leases, keys.
 *
 * It stores each judgment once by idempotency key and by what it says, counts it if it can and keeps
 * it for review otherwise, and refuses what is not its author's: as backend/store/data/judgments.py.
 * It stores a skip once, and refuses one of what is judged: as backend/store/data/assignments.py.
 */
import { Problem } from "@/api/client";
import type { Judgment } from "@/api/types";

import type { Receipt } from "../outbox";
import { isSkip, type Unsent, type UnsentJudgment, type UnsentSkip } from "../unsent-item";

export interface Stored {
  readonly assignmentId: string;
  readonly userId: string;
  readonly says: string;
  readonly isSkip: boolean;
  readonly reason: Judgment["review_reason"];
}

/** What one says: the note of a judgment, the reason of a skip; each that differs has its own. */
export const saysOf = (item: Unsent): string =>
  isSkip(item) ? item.skip.reason : item.body.comment;

export type Network = "up" | "away" | "loses answers" | "overloaded";

export class SimulatedServer {
  network: Network = "up";
  /** Who is signed in with the browser's cookie. */
  cookie: string | null = null;
  readonly stored: Stored[] = [];
  readonly removed = new Set<string>();
  /** Assignments whose lease has run out while others took the comparison. */
  readonly taken = new Set<string>();
  /** What was stored while nobody may have heard the answer. */
  readonly unanswered = new Set<string>();
  private readonly answers = new Map<string, Receipt>();

  /** Assignments are named after whom they belong to. */
  static ownerOf(assignmentId: string): string {
    return assignmentId.split("/")[0] ?? "";
  }

  /** `isHeard` is false if the tab that sent it is dead by now. */
  receive(item: Unsent, isHeard: boolean): Receipt {
    if (this.network === "away") throw new Problem(0, { detail: "away" });
    if (this.network === "overloaded") throw new Problem(503, { detail: "overloaded" });
    const answer = this.take(item);
    const isLost = this.network === "loses answers";
    if (isLost || !isHeard) this.unanswered.add(saysOf(item));
    if (isLost) throw new Problem(0, { detail: "lost" });
    return answer;
  }

  whoAmI(): string {
    if (this.network !== "up") throw new Problem(0, { detail: "away" });
    if (this.cookie === null) throw new Problem(401, { detail: "signed out" });
    return this.cookie;
  }

  /** Then a skip is refused. */
  isJudged(assignmentId: string): boolean {
    const isCounted = (one: Stored) => !one.isSkip && one.reason === null;
    return this.stored.some((one) => one.assignmentId === assignmentId && isCounted(one));
  }

  private take(item: Unsent): Receipt {
    const { assignmentId } = item;
    const userId = this.cookie;
    if (userId === null) throw new Problem(401, { detail: "signed out" });
    const isTheirs = SimulatedServer.ownerOf(assignmentId) === userId;
    if (!isTheirs || this.removed.has(userId)) throw new Problem(404, { detail: "not yours" });
    return isSkip(item) ? this.pass(item, userId) : this.judge(item, userId);
  }

  private pass({ assignmentId, skip }: UnsentSkip, userId: string): null {
    if (this.isJudged(assignmentId)) throw new Problem(409, { detail: "judged already" });
    const says = skip.reason;
    if (!this.stored.some((one) => one.says === says))
      this.stored.push({ assignmentId, userId, says, isSkip: true, reason: null });
    return null;
  }

  private judge({ assignmentId, body, key }: UnsentJudgment, userId: string): Receipt {
    const kept = this.answers.get(`${userId} ${key}`);
    if (kept !== undefined) return kept;
    const answer = { review_reason: this.keep(assignmentId, userId, body) };
    this.answers.set(`${userId} ${key}`, answer);
    return answer;
  }

  private keep(
    assignmentId: string,
    userId: string,
    body: UnsentJudgment["body"],
  ): Judgment["review_reason"] {
    const says = body.comment;
    const before = this.stored.filter((one) => one.assignmentId === assignmentId && !one.isSkip);
    const counted = before.filter((one) => one.reason === null);
    const reviews = before.filter((one) => one.reason !== null);
    const last = counted.length > 0 ? counted.slice(-1) : reviews.slice(-1);
    const same = (body.revise ? last : before).find((one) => one.says === says);
    if (same !== undefined) return same.reason;
    const late = this.taken.has(assignmentId) ? "late" : null;
    const reason = counted.length > 0 ? (body.revise ? null : "differs") : late;
    this.stored.push({ assignmentId, userId, says, isSkip: false, reason });
    return reason;
  }
}
