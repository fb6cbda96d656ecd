/** What is told of runs while they go on, and what a tab and the hub of its browser say. */
export const EVENT_TYPES = [
  "state",
  "start",
  "metric",
  "progress",
  "sample",
  "checkpoint",
  "alert",
  "judged",
  "log",
  "rewind",
  "reset",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What a stream says: of itself, or an event of a run. */
export const MESSAGE_TYPES = ["position", "ping", ...EVENT_TYPES] as const;

export type MessageType = (typeof MESSAGE_TYPES)[number];

export interface LiveEvent {
  readonly type: EventType;
  readonly run: string;
  readonly seq: number;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type StreamStatus = "connecting" | "live" | "waiting" | "signed-out" | "gone";

/** What a part of a page hears of a run that it follows. */
export interface Follower {
  /** From here on it is told everything: what was before is there to be loaded now. */
  onJoin: () => void;
  /** Each event once, in order; after a join none is missing. */
  onEvent: (event: LiveEvent) => void;
  onStatus: (status: StreamStatus) => void;
}

/** From a tab: all the runs that it follows now. It is also the answer to a ping. */
export type ToHub = readonly string[];

export type FromHub =
  | { readonly kind: "ping" }
  | { readonly kind: "join"; readonly run: string }
  | { readonly kind: "event"; readonly event: LiveEvent }
  | { readonly kind: "status"; readonly run: string; readonly status: StreamStatus };

/** How often a hub pings its tabs. */
export const PING_MS = 3000;
