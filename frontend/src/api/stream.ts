/**
 * The live events of runs: one EventSource that survives what EventSource does not.
 *
 * The browser's own object gives no status and stops for ever on 401, 404 and 503; so when it has
 * closed itself we ask GET /me, and reopen with back-off and the last id we saw.
 */
import { address, Problem, request } from "./client";
import type { User } from "./types";

export const EVENT_TYPES = [
  "state",
  "start",
  "metric",
  "progress",
  "sample",
  "checkpoint",
  "alert",
  "log",
  "rewind",
  "reset",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export interface LiveEvent {
  readonly type: EventType;
  readonly run: string;
  readonly seq: number;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type StreamStatus = "connecting" | "live" | "waiting" | "signed-out" | "gone";

const LONGEST_WAIT_MS = 30_000;

export class RunStream {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastId: string | null = null;
  private failures = 0;
  private isClosed = false;

  constructor(
    private readonly runIds: readonly string[],
    private readonly onEvent: (event: LiveEvent) => void,
    private readonly onStatus: (status: StreamStatus) => void,
  ) {
    this.open();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  private open(): void {
    if (this.isClosed) return;
    this.onStatus("connecting");
    const query = { runs: this.runIds.join(","), since: "now", last_id: this.lastId };
    const source = new EventSource(address("/stream", query));
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.onStatus("live");
    };
    source.onerror = () => {
      this.onStatus("waiting");
      if (source.readyState === EventSource.CLOSED) void this.reconnect();
    };
    for (const type of EVENT_TYPES)
      source.addEventListener(type, (message: MessageEvent<string>) => {
        this.lastId = message.lastEventId || this.lastId;
        this.onEvent(parseEvent(type, message.data));
      });
  }

  private async reconnect(): Promise<void> {
    this.failures += 1;
    const wait = Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.failures);
    try {
      await request<User>("/me");
      // Signed in and still refused again and again: the runs are not there for us.
      if (this.failures > 4 && !this.isClosed) this.onStatus("gone");
    } catch (error) {
      const isSignedOut = error instanceof Problem && error.status === 401;
      if (!this.isClosed) this.onStatus(isSignedOut ? "signed-out" : "waiting");
    }
    this.timer = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
  }
}

function parseEvent(type: EventType, text: string): LiveEvent {
  const data = JSON.parse(text) as Record<string, unknown>;
  return {
    type,
    run: typeof data["run"] === "string" ? data["run"] : "",
    seq: typeof data["seq"] === "number" ? data["seq"] : 0,
    at: typeof data["at"] === "string" ? data["at"] : "",
    data,
  };
}
