/**
 * Judgments and skips on their way to the server: kept in the browser until the server has them.
 *
 * Who signs in next sees, sends and deletes only what is theirs. One tab at a time sends. Sending one
 * twice is harmless: a judgment has an idempotency key, and skipping twice does what skipping once
 * does. A lost network or a signed-out session delays them; what the server refuses stays, to be
 * tried again, downloaded or discarded by its author.
 */
import { Problem } from "@/api/client";
import type { Judgment } from "@/api/types";
import { sentence } from "@/lib/format";
import type { Turns } from "@/lib/turns";

import { isRevision, isSkip, type Said, type Unsent, type UnsentJudgment } from "./unsent-item";
import type { UnsentStore } from "./unsent-store";

export type OutboxStatus = "idle" | "sending" | "offline" | "signed-out";

/** What the server answers to a judgment; null to a skip. */
export type Receipt = Pick<Judgment, "review_reason"> | null;

/** What the outbox needs of the server. */
export interface Server {
  readonly send: (item: Unsent) => Promise<Receipt>;
  /** Sends it from a page that is being closed; nobody hears what becomes of it. */
  readonly sendLast: (item: Unsent) => void;
  /** The id of whoever is signed in. */
  readonly whoAmI: () => Promise<string>;
}

/** Discarded in this tab; by another tab it was discarded or sent again, nobody knows which. */
export type End = "discarded" | "elsewhere";

/** A judgment that the server keeps for review, and why it does not count. */
export interface Reviewed {
  readonly item: UnsentJudgment;
  readonly reason: NonNullable<Judgment["review_reason"]>;
}

/** What an outbox lives on; a test has its own. */
export interface Surroundings {
  readonly store: UnsentStore;
  readonly server: Server;
  readonly turns: Turns;
  readonly later: (run: () => void, ms: number) => ReturnType<typeof setTimeout>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Tells the other tabs that something was kept or removed. */
  readonly tellOthers: () => void;
}

const LONGEST_WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 5000;
/** Nothing is held longer, also if the clock was set back meanwhile. */
const LONGEST_HOLD_MS = 10_000;
const CLOCK_MARGIN_MS = 20;
/** A page that is closed may send little. */
const MOST_SENT_LAST = 5;

const inOrder = (items: Iterable<Unsent>): Unsent[] =>
  [...items].sort((one, other) => one.submittedAt - other.submittedAt);

/** What the author reads: ids of assignments say nothing to people. */
const refusalOf = ({ status, message, advice }: Problem): string =>
  status === 403 || status === 404
    ? "You can no longer judge this comparison. Ask whoever leads the project whether you are still a member."
    : [sentence(message), advice].filter(Boolean).join(" ");

export class Outbox {
  private items: readonly Unsent[] = [];
  private author: string | null = null;
  /** What no place in the browser has yet: it lasts as long as this tab. */
  private readonly unsaved = new Map<string, Unsent>();
  /** Of these, what no place had room for. */
  private readonly homeless = new Set<string>();
  /** Keys of what this tab has sent or discarded: a read that began earlier may still find them. */
  private readonly gone = new Set<string>();
  /** How what was refused has ended, by key. */
  private readonly ends = new Map<string, End>();
  /** Assignments that this tab has judged or skipped: a second Enter or click says nothing new. */
  private readonly submitted = new Set<string>();
  /** Keys of what this tab holds back: no other tab takes it back, which may be closed and send it. */
  private readonly heldHere = new Set<string>();
  /** Keys of what need not be held back any more. */
  private readonly letGoOf = new Set<string>();
  private inReview: readonly Reviewed[] = [];
  private current: OutboxStatus = "idle";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isWanted = false;
  private isLookingAgain = false;
  private running: Promise<void> | null = null;
  private readonly listeners = new Set<() => void>();
  onSent: (item: Unsent) => void = () => undefined;

  constructor(private readonly around: Surroundings) {}

  /** Shows and sends what this person has submitted, and nothing of others. */
  async open(userId: string): Promise<void> {
    if (this.author === userId) return;
    this.author = userId;
    this.items = inOrder(this.ownUnsaved());
    this.inReview = [];
    this.tell();
    await this.reload();
  }

  /** Looks again at what is kept: another tab may have added or sent something. */
  async reload(): Promise<void> {
    const author = this.author;
    if (author === null) return;
    const kept = await this.around.store.of(author);
    if (author !== this.author) return;
    const found = new Map([...kept, ...this.ownUnsaved()].map((item) => [item.key, item]));
    for (const key of this.gone) found.delete(key);
    // Another tab has discarded what was refused and is no longer kept, or has sent it: then its
    // comparison is not shown again.
    for (const { key, assignmentId, refusal } of this.items)
      if (refusal !== null && !found.has(key)) {
        this.submitted.delete(assignmentId);
        this.ends.set(key, "elsewhere");
      }
    this.items = inOrder(found.values());
    this.tell();
    this.lookAgain();
  }

  /** Sends what nobody else sends for a while, such as what a tab left behind that was closed. */
  private lookAgain(): void {
    if (this.running !== null || this.current !== "idle" || this.isLookingAgain) return;
    if (!this.items.some((item) => item.refusal === null)) return;
    this.isLookingAgain = true;
    this.around.later(() => {
      this.isLookingAgain = false;
      void this.flush();
    }, LOOK_AGAIN_MS);
  }

  /** Of this person, the oldest first. */
  get all(): readonly Unsent[] {
    return this.items;
  }

  /** What this tab has sent and the server keeps for review, until it was read. */
  get reviewed(): readonly Reviewed[] {
    return this.inReview;
  }

  /** How what was refused has ended; null for what was not, and for what the server took after all. */
  endOf(key: string): End | null {
    return this.ends.get(key) ?? null;
  }

  /** Whether some are kept by this tab alone. */
  get isWithoutRoom(): boolean {
    return this.items.some((item) => this.homeless.has(item.key));
  }

  /** Whether this tab alone has it. */
  isHomeless(key: string): boolean {
    return this.homeless.has(key);
  }

  get status(): OutboxStatus {
    return this.current;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /**
   * Submits; false for what this tab has submitted already and nobody reopened.
   *
   * What is held back for some milliseconds is kept at once and sent later, by this tab or another.
   */
  add(sent: Said, holdMs = 0): boolean {
    if (!isRevision(sent) && this.submitted.has(sent.assignmentId)) return false;
    this.submitted.add(sent.assignmentId);
    const now = this.around.now();
    const last = this.items.at(-1)?.submittedAt ?? 0;
    const item: Unsent = {
      ...sent,
      refusal: null,
      submittedAt: Math.max(now, last + 1),
      ...(holdMs > 0 ? { heldUntil: now + holdMs } : {}),
    };
    if (holdMs > 0) {
      this.heldHere.add(item.key);
      this.around.later(() => void this.flush(), holdMs + CLOCK_MARGIN_MS);
    }
    if (!this.around.store.note(item)) this.unsaved.set(item.key, item);
    this.items = [...this.items, item];
    this.tell();
    void this.keep(item).then(() => this.flush());
    return true;
  }

  /** Whether this tab has judged or skipped it, and nobody took that back. */
  hasSubmitted(assignmentId: string): boolean {
    return this.submitted.has(assignmentId);
  }

  /** Whether its author may still take it back. */
  isHeld(item: Unsent, at = this.around.now()): boolean {
    const left = (item.heldUntil ?? 0) - at;
    return left > 0 && left <= LONGEST_HOLD_MS && !this.letGoOf.has(item.key);
  }

  /** The key of what this tab holds back, null if nothing is. */
  get heldKey(): string | null {
    const isOwn = (item: Unsent) => this.heldHere.has(item.key) && this.isHeld(item);
    return this.items.find(isOwn)?.key ?? null;
  }

  /**
   * Takes back what this tab holds back; false if it is too late for that.
   *
   * No tab sends it before its time, and each looks after that time whether it is still there.
   */
  takeBack(key: string): boolean {
    const item = this.items.find((one) => one.key === key);
    if (item === undefined || !this.heldHere.has(key) || !this.isHeld(item)) return false;
    this.submitted.delete(item.assignmentId);
    this.vanish(item);
    void this.around.store.removeNow(item).then(this.around.tellOthers);
    return true;
  }

  /** Sends what is held back: its author does something else. */
  letGo(): void {
    const held = this.items.filter((item) => this.heldHere.has(item.key) && this.isHeld(item));
    for (const { key } of held) this.letGoOf.add(key);
    if (held.length > 0) void this.flush();
  }

  /**
   * The page is closed: what waits goes on its way. It stays kept, and is sent again with the same
   * key when Podium is opened next. Of several of one assignment each has to wait for its turn.
   */
  part(): void {
    const waiting = this.items.filter((item) => item.refusal === null);
    const count = (id: string) => waiting.filter((item) => item.assignmentId === id).length;
    const isOthers = (item: Unsent) => this.isHeld(item) && !this.heldHere.has(item.key);
    const free = waiting.filter((item) => count(item.assignmentId) === 1 && !isOthers(item));
    for (const item of free.slice(0, MOST_SENT_LAST)) {
      this.letGoOf.add(item.key);
      this.around.server.sendLast(item);
    }
  }

  /** Sends again what was refused: roles and memberships change. */
  async retry(key: string): Promise<void> {
    for (const item of this.items.filter((one) => one.key === key))
      await this.keep({ ...item, refusal: null });
    await this.flush();
  }

  async discard(key: string): Promise<void> {
    for (const item of this.items.filter((one) => one.key === key)) {
      this.submitted.delete(item.assignmentId);
      this.ends.set(key, "discarded");
      await this.forget(item);
    }
  }

  /** Takes the notes about what is kept for review off the screen. */
  dismissReviewed(): void {
    this.inReview = [];
    this.tell();
  }

  /** Sends what waits, oldest first, one at a time; tries again automatically after a passing failure. */
  flush(): Promise<void> {
    this.isWanted = true;
    this.running ??= this.sendWhileWanted().finally(() => {
      this.running = null;
      if (this.isWanted) void this.flush();
      else this.lookAgain();
    });
    return this.running;
  }

  private async sendWhileWanted(): Promise<void> {
    clearTimeout(this.timer);
    while (this.isWanted && this.author !== null) {
      this.isWanted = false;
      this.become("sending");
      const author = this.author;
      const failure = await this.around.turns.take(`podium.outbox.${author}`, () =>
        this.sendAll(author),
      );
      if (failure !== null) return this.wait(failure);
    }
    this.isWanted = false;
    this.failures = 0;
    this.become("idle");
  }

  private async sendAll(author: string): Promise<OutboxStatus | null> {
    let item = await this.next(author);
    while (item !== undefined) {
      const failure = await this.attempt(item);
      if (failure !== null) return failure;
      item = await this.next(author);
    }
    return null;
  }

  private async next(author: string): Promise<Unsent | undefined> {
    // Looked at before it is read: what was taken back in time is gone by then.
    const at = this.around.now();
    await this.reload();
    if (this.author !== author) return undefined;
    return this.items.find((item) => item.refusal === null && !this.isHeld(item, at));
  }

  private async attempt(item: Unsent): Promise<OutboxStatus | null> {
    let answer: Receipt;
    try {
      answer = await this.around.server.send(item);
    } catch (error) {
      if (!(error instanceof Problem) || error.isPassing) return "offline";
      if (error.status === 401 || !(await this.isAuthors(item))) return "signed-out";
      await this.keep({ ...item, refusal: refusalOf(error) });
      return null;
    }
    await this.forget(item);
    const reason = answer?.review_reason ?? null;
    if (reason !== null && !isSkip(item) && item.userId === this.author)
      this.inReview = [...this.inReview, { item, reason }];
    this.onSent(item);
    this.tell();
    return null;
  }

  /** Whether its author is signed in: what others are refused is no fault of the judgment. */
  private async isAuthors(item: Unsent): Promise<boolean> {
    try {
      return (await this.around.server.whoAmI()) === item.userId;
    } catch {
      return false;
    }
  }

  private wait(status: OutboxStatus): void {
    this.isWanted = false;
    this.failures += 1;
    this.become(status);
    const ms = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (this.failures - 1));
    this.timer = this.around.later(() => void this.flush(), ms);
  }

  private ownUnsaved(): Unsent[] {
    return [...this.unsaved.values()].filter((item) => item.userId === this.author);
  }

  private async keep(item: Unsent): Promise<void> {
    const isUnsaved = this.unsaved.has(item.key);
    if (isUnsaved) this.unsaved.set(item.key, item);
    const { store } = this.around;
    const isKept = await (isUnsaved ? store.keep(item) : store.keepAgain(item));
    if (this.gone.has(item.key)) return store.remove(item);
    if (isKept === null) return this.reload();
    if (isKept) {
      this.homeless.delete(item.key);
      await this.reload();
      this.unsaved.delete(item.key);
      this.around.tellOthers();
    } else {
      this.unsaved.set(item.key, item);
      this.homeless.add(item.key);
      await this.reload();
    }
  }

  private vanish(item: Unsent): void {
    this.gone.add(item.key);
    this.unsaved.delete(item.key);
    this.homeless.delete(item.key);
    this.items = this.items.filter((one) => one.key !== item.key);
    this.tell();
  }

  private async forget(item: Unsent): Promise<void> {
    this.vanish(item);
    await this.around.store.remove(item);
    this.around.tellOthers();
  }

  private become(status: OutboxStatus): void {
    this.current = status;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
