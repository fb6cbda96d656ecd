/**
 * Judgments on their way to the server: kept in the browser until the server has them.
 *
 * Each stands under a key of its own, with its author's: no tab writes over what another keeps, and
 * who signs in next sees, sends and deletes only what is theirs. Each has an idempotency key, so
 * sending one twice is harmless. A lost network or a signed-out session delays them; what the server
 * refuses stays visible until its author discards it.
 */
import { sendJudgment } from "@/api/assignments";
import { Problem } from "@/api/client";
import { readMe } from "@/api/session";
import type { JudgmentBody } from "@/api/types";
import { keysOf, read, remove, write } from "@/lib/storage";

export interface Unsent {
  readonly assignmentId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly body: JudgmentBody;
  readonly key: string;
  /** Milliseconds since the epoch: they are sent in this order. */
  readonly submittedAt: number;
  /** Why the server will not take it; null while it is on its way. */
  readonly refusal: string | null;
}

export type OutboxStatus = "idle" | "sending" | "offline" | "signed-out";

/** What the outbox needs of the server. */
interface Server {
  readonly send: (item: Unsent) => Promise<unknown>;
  /** The id of whoever is signed in. */
  readonly whoAmI: () => Promise<string>;
}

const KEY = "podium.outbox";
const LONGEST_WAIT_MS = 30_000;

const isUnsent = (value: unknown): value is Unsent =>
  typeof value === "object" && value !== null && "key" in value && "submittedAt" in value;

const keyOf = ({ userId, key }: Unsent) => `${KEY}.${userId}.${key}`;

export class Outbox {
  private items: readonly Unsent[] = [];
  private author: string | null = null;
  /** What the browser had no room for: it lasts as long as this tab. */
  private readonly homeless = new Map<string, Unsent>();
  private current: OutboxStatus = "idle";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private readonly listeners = new Set<() => void>();
  onSent: (item: Unsent) => void = () => undefined;

  constructor(
    private readonly storage: Storage,
    private readonly server: Server,
    private readonly later: (run: () => void, ms: number) => ReturnType<typeof setTimeout>,
  ) {}

  /** Shows and sends what this person has submitted, and nothing of others. */
  open(userId: string): void {
    if (this.author === userId) return;
    this.author = userId;
    this.reload();
  }

  /** Looks again at what is kept: another tab may have added or sent something. */
  reload(): void {
    this.items = this.load();
    this.tell();
  }

  /** Of this person. */
  get all(): readonly Unsent[] {
    return this.items;
  }

  /** Whether some are kept by this tab alone. */
  get isWithoutRoom(): boolean {
    return this.items.some((item) => this.homeless.has(item.key));
  }

  get status(): OutboxStatus {
    return this.current;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(item: Omit<Unsent, "refusal" | "submittedAt">): void {
    const last = this.items.at(-1)?.submittedAt ?? 0;
    this.keep({ ...item, refusal: null, submittedAt: Math.max(Date.now(), last + 1) });
    void this.flush();
  }

  discard(key: string): void {
    for (const item of this.items.filter((one) => one.key === key)) this.forget(item);
  }

  /** Sends what waits, oldest first, one at a time; tries again automatically after a passing failure. */
  async flush(): Promise<void> {
    if (this.current === "sending") return;
    clearTimeout(this.timer);
    this.become("sending");
    let item = this.next();
    while (item !== undefined) {
      const failure = await this.attempt(item);
      if (failure !== null) return this.wait(failure);
      item = this.next();
    }
    this.failures = 0;
    this.become("idle");
  }

  private next(): Unsent | undefined {
    this.reload();
    return this.items.find((item) => item.refusal === null);
  }

  private async attempt(item: Unsent): Promise<OutboxStatus | null> {
    try {
      await this.server.send(item);
    } catch (error) {
      if (!(error instanceof Problem) || error.isPassing) return "offline";
      if (error.status === 401 || !(await this.isAuthors(item))) return "signed-out";
      const refusal = [error.message, error.advice].filter(Boolean).join(" ");
      this.keep({ ...item, refusal });
      return null;
    }
    this.forget(item);
    this.onSent(item);
    return null;
  }

  /** Whether its author is signed in: what others are refused is no fault of the judgment. */
  private async isAuthors(item: Unsent): Promise<boolean> {
    try {
      return (await this.server.whoAmI()) === item.userId;
    } catch {
      return false;
    }
  }

  private wait(status: OutboxStatus): void {
    this.failures += 1;
    this.become(status);
    const ms = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (this.failures - 1));
    this.timer = this.later(() => void this.flush(), ms);
  }

  private load(): Unsent[] {
    const prefix = `${KEY}.${this.author ?? ""}.`;
    const kept = keysOf(this.storage, prefix).map((key) => read(this.storage, key, isUnsent));
    const homeless = [...this.homeless.values()].filter((one) => one.userId === this.author);
    return [...kept.filter((one) => one !== null), ...homeless].sort(
      (one, other) => one.submittedAt - other.submittedAt,
    );
  }

  private keep(item: Unsent): void {
    if (write(this.storage, keyOf(item), item)) this.homeless.delete(item.key);
    else this.homeless.set(item.key, item);
    this.reload();
  }

  private forget(item: Unsent): void {
    remove(this.storage, keyOf(item));
    this.homeless.delete(item.key);
    this.reload();
  }

  private become(status: OutboxStatus): void {
    this.current = status;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

export const outbox = new Outbox(
  globalThis.localStorage,
  {
    send: (item) => sendJudgment(item.assignmentId, item.body, item.key),
    whoAmI: async () => (await readMe()).id,
  },
  (run, ms) => setTimeout(run, ms),
);
