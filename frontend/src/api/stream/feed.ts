/**
 * One stream of events, the runs that it follows and the tabs that hear of each: how far a run was
 * told, and how the stream comes back.
 *
 * The runs may change at any time. The stream is then opened anew, and each run goes on behind the
 * last event that was told of it: none is missing, none comes twice. It knows no browser.
 */
import {
  PING_MS,
  type EventType,
  type FromHub,
  type LiveEvent,
  type MessageType,
  type StreamStatus,
} from "./messages";

type Data = Readonly<Record<string, unknown>>;

/** The way to one tab. */
export interface Port {
  post: (message: FromHub) => void;
}

/** What is heard on an open stream; nothing after it was closed. */
export interface Heard {
  /**
   * A message of the server by its type, its data as JSON. The first is `position`: the runs that
   * are followed, and the event behind which each begins. All others are events, or a `ping`.
   */
  onMessage: (type: MessageType, text: string) => void;
  /** It has ended, was cut or was refused. */
  onEnd: () => void;
}

export interface Server {
  /** Opens a stream of runs, each behind an event or, null, from now on; returns how to close it. */
  open: (after: ReadonlyMap<string, number | null>, heard: Heard) => () => void;
  /** Whether the user is still signed in; null = the server does not say. */
  isSignedIn: () => Promise<boolean | null>;
}

/** A run that is followed. */
interface Followed {
  readonly ports: Set<Port>;
  /** The last event that was told; null = none yet, it begins with the next. */
  told: number | null;
  status: StreamStatus;
}

/** Tabs that are opened together join together. */
const JOIN_MS = 50;
/** A run that nobody follows any more costs only what it tells. */
const TIDY_MS = 5000;
/** The server ends every stream after a quarter of an hour; nobody needs to hear of it. */
const RENEW_MS = 400;
const RETRY_MS = 1000;
const UNNOTICED_MS = 2000;
const LONGEST_WAIT_MS = 30_000;
/** The server pings every 15 seconds. */
const MOST_SILENT = 45_000 / PING_MS;
const PATIENCE = 4;

export class Feed {
  private readonly runs = new Map<string, Followed>();
  private closeStream: (() => void) | null = null;
  private opening: ReturnType<typeof setTimeout> | undefined;
  private noticing: ReturnType<typeof setTimeout> | undefined;
  private isHeard = false;
  /** Ticks since it was opened, and since something came. */
  private age = 0;
  private silent = 0;
  private failures = 0;
  private attempts = 0;

  constructor(private readonly server: Server) {}

  get size(): number {
    return this.runs.size;
  }

  /** From now on this tab hears of the run; of one that is followed already it hears at once. */
  follow(run: string, port: Port): void {
    const there = this.runs.get(run) ?? { ports: new Set(), told: null, status: "connecting" };
    if (!this.runs.has(run)) {
      this.runs.set(run, there);
      this.openIn(JOIN_MS);
    }
    there.ports.add(port);
    port.post({ kind: "status", run, status: there.status });
    if (there.told !== null) port.post({ kind: "join", run });
  }

  /** Whether some tab still follows the run after this one has left it. */
  leave(run: string, port: Port): boolean {
    const there = this.runs.get(run);
    there?.ports.delete(port);
    if (there === undefined || there.ports.size > 0) return there !== undefined;
    this.runs.delete(run);
    if (this.runs.size === 0) this.stop();
    else if (this.opening === undefined) this.openIn(TIDY_MS);
    return false;
  }

  /** To be called every `PING_MS`: a stream on which nothing comes any more is dead. */
  tick(): void {
    if (this.closeStream === null) return;
    this.age += 1;
    this.silent += 1;
    if (this.silent > MOST_SILENT) this.end();
  }

  private stop(): void {
    this.attempts += 1;
    clearTimeout(this.opening);
    this.opening = undefined;
    clearTimeout(this.noticing);
    this.closeStream?.();
    this.closeStream = null;
  }

  private openIn(ms: number): void {
    clearTimeout(this.opening);
    this.opening = setTimeout(() => this.open(), ms);
  }

  private open(): void {
    this.stop();
    this.isHeard = false;
    this.age = 0;
    this.silent = 0;
    this.notice();
    const asked = new Map([...this.runs].map(([run, { told }]) => [run, told]));
    this.closeStream = this.server.open(asked, {
      onMessage: (type, text) => this.hear(asked.keys(), type, JSON.parse(text) as Data),
      onEnd: () => this.end(),
    });
  }

  private hear(asked: Iterable<string>, type: MessageType, data: Data): void {
    this.silent = 0;
    if (type === "position") this.begin(asked, data as Readonly<Record<string, number>>);
    else if (type !== "ping") this.tell(eventOf(type, data));
  }

  private begin(asked: Iterable<string>, at: Readonly<Record<string, number>>): void {
    clearTimeout(this.noticing);
    this.isHeard = true;
    this.failures = 0;
    for (const run of asked) {
      const seq = at[run];
      const there = this.runs.get(run);
      if (there === undefined) continue;
      this.setStatus(run, seq === undefined ? "gone" : "live");
      if (seq === undefined || there.told !== null) continue;
      there.told = seq;
      this.post(run, { kind: "join", run });
    }
  }

  private tell(event: LiveEvent): void {
    const there = this.runs.get(event.run);
    if (there === undefined || there.told === null) return;
    if (event.type !== "reset" && event.seq <= there.told) return;
    there.told = event.seq;
    this.post(event.run, { kind: "event", event });
  }

  private end(): void {
    this.closeStream?.();
    this.closeStream = null;
    if (this.isHeard) {
      this.isHeard = false;
      this.notice();
      this.openIn(this.age > 1 ? RENEW_MS * Math.random() : about(RETRY_MS));
      return;
    }
    clearTimeout(this.noticing);
    this.failures += 1;
    this.openIn(about(Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.failures)));
    void this.explain();
  }

  /** Says that there is no stream, unless there is one within a moment. */
  private notice(): void {
    clearTimeout(this.noticing);
    this.noticing = setTimeout(() => this.setStatuses("waiting"), UNNOTICED_MS);
  }

  /** An EventSource does not say why it was refused. */
  private async explain(): Promise<void> {
    const mine = this.attempts;
    for (const [run, { status }] of this.runs)
      if (status === "live" || status === "connecting") this.setStatus(run, "waiting");
    const isSignedIn = await this.server.isSignedIn();
    if (mine !== this.attempts) return;
    if (isSignedIn === false) this.setStatuses("signed-out");
    // Signed in and still refused again and again: the runs are not there for us.
    if (isSignedIn === true && this.failures > PATIENCE) this.setStatuses("gone");
  }

  private setStatuses(status: StreamStatus): void {
    for (const run of this.runs.keys()) this.setStatus(run, status);
  }

  private setStatus(run: string, status: StreamStatus): void {
    const there = this.runs.get(run);
    if (there === undefined || there.status === status) return;
    there.status = status;
    this.post(run, { kind: "status", run, status });
  }

  private post(run: string, message: FromHub): void {
    for (const port of this.runs.get(run)?.ports ?? []) port.post(message);
  }
}

function eventOf(type: EventType, data: Data): LiveEvent {
  return {
    type,
    run: typeof data["run"] === "string" ? data["run"] : "",
    seq: typeof data["seq"] === "number" ? data["seq"] : 0,
    at: typeof data["at"] === "string" ? data["at"] : "",
    data,
  };
}

/** Not all browsers at once. */
const about = (ms: number) => ms * (0.75 + Math.random() / 2);
