/**
 * A double click or a key that bounces says once what it says.
 *
 * Where one key is the whole judgment, the second click of two lands on the same button of the next
 * comparison, which nobody has read. Nobody reads two responses in that time, so nothing is lost that
 * was meant. The time counts from when the next comparison is on screen: a slow one keeps the second
 * click waiting, and nobody has read it any sooner. Under the next criterion of the same comparison the same answer may well be meant: there
 * only a bounce is ignored, which is faster than a finger.
 */
import type { Move } from "../ranking/ranking";

export const DOUBLE_CLICK_MS = 400;
export const BOUNCE_MS = 60;

interface Said {
  readonly action: string;
  readonly assignmentId: string;
  readonly at: number;
}

export class LastSaid {
  private last: Said | null = null;

  /** An action that said all under a criterion, or of a comparison; `at` in milliseconds. */
  say(action: Move, assignmentId: string, at: number): void {
    this.last = { action: JSON.stringify(action), assignmentId, at };
  }

  /** Since then the next comparison is on screen; a click that came before it waited for that. */
  drawn(at: number): void {
    if (this.last !== null) this.last = { ...this.last, at };
  }

  /** Whether it is the last one once more; a third click follows the second. */
  isTwice(action: Move, assignmentId: string, at: number): boolean {
    if (this.last === null || this.last.action !== JSON.stringify(action)) return false;
    const isSame = this.last.assignmentId === assignmentId;
    if (at - this.last.at >= (isSame ? BOUNCE_MS : DOUBLE_CLICK_MS)) return false;
    this.last = { ...this.last, at };
    return true;
  }

  /** What was undone may be said again at once. */
  forget(): void {
    this.last = null;
  }
}

/** Of this tab: it outlasts the comparison on screen. */
export const lastSaid = new LastSaid();
