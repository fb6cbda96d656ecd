/**
 * Judgments on their way to the server: kept in the browser until the server has them.
 *
 * Each has an idempotency key, so sending one twice is harmless. A lost network or a signed-out
 * session delays them; what the server refuses stays visible until the annotator discards it.
 */
import { sendJudgment } from "@/api/assignments";
import { Problem } from "@/api/client";
import type { JudgmentBody } from "@/api/types";
import { read, write } from "@/lib/storage";

export interface Unsent {
  readonly assignmentId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly body: JudgmentBody;
  readonly key: string;
  /** Why the server will not take it; null while it is on its way. */
  readonly refusal: string | null;
}

export type OutboxStatus = "idle" | "sending" | "offline" | "signed-out";

type Send = (item: Unsent) => Promise<unknown>;

const KEY = "podium.outbox";
const LONGEST_WAIT_MS = 30_000;

const isList = (value: unknown): value is Unsent[] => Array.isArray(value);

export class Outbox {
  private items: readonly Unsent[];
  private current: OutboxStatus = "idle";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private readonly listeners = new Set<() => void>();
  onSent: (item: Unsent) => void = () => undefined;

  constructor(
    private readonly storage: Storage,
    private readonly send: Send,
    private readonly later: (run: () => void, ms: number) => ReturnType<typeof setTimeout>,
  ) {
    this.items = read(storage, KEY, isList) ?? [];
  }

  get all(): readonly Unsent[] {
    return this.items;
  }

  get status(): OutboxStatus {
    return this.current;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(item: Omit<Unsent, "refusal">): void {
    this.keep([...this.items, { ...item, refusal: null }]);
    void this.flush();
  }

  discard(key: string): void {
    this.keep(this.items.filter((item) => item.key !== key));
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
    return this.items.find((item) => item.refusal === null);
  }

  private async attempt(item: Unsent): Promise<OutboxStatus | null> {
    try {
      await this.send(item);
    } catch (error) {
      if (!(error instanceof Problem) || error.isPassing) return "offline";
      if (error.status === 401) return "signed-out";
      const refusal = [error.message, error.advice].filter(Boolean).join(" ");
      this.keep(this.items.map((one) => (one.key === item.key ? { ...one, refusal } : one)));
      return null;
    }
    this.discard(item.key);
    this.onSent(item);
    return null;
  }

  private wait(status: OutboxStatus): void {
    this.failures += 1;
    this.become(status);
    const ms = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (this.failures - 1));
    this.timer = this.later(() => void this.flush(), ms);
  }

  private keep(items: readonly Unsent[]): void {
    this.items = items;
    write(this.storage, KEY, items);
    this.tell();
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
  (item) => sendJudgment(item.assignmentId, item.body, item.key),
  (run, ms) => setTimeout(run, ms),
);
