/**
 * The runs that one tab follows, for any number of its parts, and its line to the hub.
 *
 * The hub may die without a word, as with the process that it lives in: a line on which no ping
 * comes any more is laid anew, and every run is joined again. It knows no browser.
 */
import { PING_MS, type Follower, type FromHub, type StreamStatus, type ToHub } from "./messages";

export interface Line {
  send: (message: ToHub) => void;
  /** Nothing is heard on it afterwards. */
  close: () => void;
}

/** `onDead`: the other end is known to be gone. */
export type Dial = (hear: (message: FromHub) => void, onDead: () => void) => Line;

/** Pings that do not come before the hub counts as dead. */
export const MOST_SILENT = 3;

interface Followed {
  readonly followers: Set<Follower>;
  status: StreamStatus;
  hasJoined: boolean;
}

export class Tab {
  private readonly followed = new Map<string, Followed>();
  private line: Line | null = null;
  private isSending = false;
  private silent = 0;
  private watching: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly dial: Dial) {}

  /** Follows a run; returns how to leave it. */
  follow(run: string, follower: Follower): () => void {
    const there = this.followed.get(run) ?? {
      followers: new Set(),
      status: "connecting",
      hasJoined: false,
    };
    this.followed.set(run, there);
    there.followers.add(follower);
    follower.onStatus(there.status);
    if (there.hasJoined) follower.onJoin();
    this.sendSoon();
    return () => {
      there.followers.delete(follower);
      this.sendSoon();
    };
  }

  /** Once for all that a page begins and ends to follow in one go. */
  private sendSoon(): void {
    if (this.isSending) return;
    this.isSending = true;
    queueMicrotask(() => {
      this.isSending = false;
      for (const [run, { followers }] of this.followed)
        if (followers.size === 0) this.followed.delete(run);
      this.send();
    });
  }

  private send(): void {
    if (this.followed.size === 0) return this.hangUp();
    this.line ??= this.call();
    this.line.send([...this.followed.keys()]);
  }

  private call(): Line {
    this.silent = 0;
    this.watching = setInterval(() => this.watch(), PING_MS);
    return this.dial(
      (message) => this.hear(message),
      () => this.callAgain(),
    );
  }

  private hangUp(): void {
    clearInterval(this.watching);
    this.line?.send([]);
    this.line?.close();
    this.line = null;
  }

  private watch(): void {
    this.silent += 1;
    if (this.silent > MOST_SILENT) this.callAgain();
  }

  private callAgain(): void {
    this.hangUp();
    for (const there of this.followed.values()) there.hasJoined = false;
    this.send();
  }

  private hear(message: FromHub): void {
    this.silent = 0;
    switch (message.kind) {
      case "ping":
        return this.send();
      case "event":
        // Of a line or a join before, it would leave a gap.
        if (this.followed.get(message.event.run)?.hasJoined !== true) return;
        return this.tell(message.event.run, ({ onEvent }) => onEvent(message.event));
      case "status":
        return this.setStatus(message.run, message.status);
      case "join":
        return this.join(message.run);
    }
  }

  private join(run: string): void {
    const there = this.followed.get(run);
    if (there !== undefined) there.hasJoined = true;
    this.tell(run, ({ onJoin }) => onJoin());
  }

  private setStatus(run: string, status: StreamStatus): void {
    const there = this.followed.get(run);
    if (there === undefined || there.status === status) return;
    there.status = status;
    this.tell(run, ({ onStatus }) => onStatus(status));
  }

  private tell(run: string, say: (follower: Follower) => void): void {
    for (const follower of [...(this.followed.get(run)?.followers ?? [])]) say(follower);
  }
}
