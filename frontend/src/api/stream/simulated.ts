/** A server, a browser and what may happen to both, for tests: time is vitest's, chance is seeded. */
import type { Chance } from "@/lib/seeded-chance";

import type { Heard, Server } from "./feed";
import type { Port } from "./feed";
import { Hub } from "./hub";
import type { Follower, FromHub, LiveEvent, StreamStatus } from "./messages";
import { Tab, type Line } from "./tab";

/** What is sent comes late, but in the order in which it was sent; nothing after `cut`. */
class Wire {
  private isCut = false;
  private lastAt = 0;

  constructor(private readonly chance: Chance) {}

  send(deliver: () => void): void {
    this.lastAt = Math.max(this.lastAt, Date.now() + 200 * this.chance());
    setTimeout(() => {
      if (!this.isCut) deliver();
    }, this.lastAt - Date.now());
  }

  cut(): void {
    this.isCut = true;
  }
}

interface OpenStream {
  readonly runs: ReadonlySet<string>;
  readonly heard: Heard;
  readonly wire: Wire;
  isAnswered: boolean;
}

export class SimulatedServer implements Server {
  /** Per run that may be seen the number of its last event. */
  readonly heads = new Map<string, number>();
  readonly streams = new Set<OpenStream>();
  isUp = true;
  isSignedOut = false;
  opened = 0;

  constructor(private readonly chance: Chance) {
    setInterval(() => {
      for (const { heard, wire, isAnswered } of this.streams)
        if (isAnswered) wire.send(() => heard.onMessage("ping", "{}"));
    }, 15_000);
  }

  open = (after: ReadonlyMap<string, number | null>, heard: Heard): (() => void) => {
    const wire = new Wire(this.chance);
    const stream = { runs: new Set(after.keys()), heard, wire, isAnswered: false };
    this.opened += 1;
    this.streams.add(stream);
    wire.send(() => this.answer(stream, after));
    return () => {
      wire.cut();
      this.streams.delete(stream);
    };
  };

  isSignedIn = (): Promise<boolean | null> => Promise.resolve(this.isUp ? !this.isSignedOut : null);

  write(run: string): void {
    const seq = (this.heads.get(run) ?? 0) + 1;
    this.heads.set(run, seq);
    for (const { runs, heard, wire, isAnswered } of this.streams)
      if (isAnswered && runs.has(run)) wire.send(() => heard.onMessage("metric", dataOf(run, seq)));
  }

  /** What is on its way is lost. */
  cutAll(): void {
    for (const stream of this.streams) this.cut(stream);
  }

  private cut(stream: OpenStream): void {
    stream.wire.cut();
    // Who has closed it meanwhile hears nothing.
    setTimeout(() => this.streams.has(stream) && stream.heard.onEnd(), 10);
  }

  private answer(stream: OpenStream, after: ReadonlyMap<string, number | null>): void {
    const { heard, wire } = stream;
    if (!this.isUp || this.isSignedOut) return this.cut(stream);
    stream.isAnswered = true;
    const at: Record<string, number> = {};
    for (const [run, head] of this.heads) if (after.has(run)) at[run] = after.get(run) ?? head;
    wire.send(() => heard.onMessage("position", JSON.stringify(at)));
    for (const [run, seq] of Object.entries(at))
      for (let next = seq + 1; next <= (this.heads.get(run) ?? 0); next++)
        wire.send(() => heard.onMessage("metric", dataOf(run, next)));
  }
}

const dataOf = (run: string, seq: number) => JSON.stringify({ run, seq });

/** A process that can be killed: what it sends and what is sent to it is lost from then on. */
interface Process {
  isAlive: boolean;
}

export class SimulatedBrowser {
  private worker: Process & { readonly hub: Hub };
  private onWorkerDead = new Set<() => void>();

  constructor(
    private readonly server: SimulatedServer,
    private readonly chance: Chance,
  ) {
    this.worker = this.newWorker();
  }

  newTab(): { tab: Tab; process: Process } {
    const process = { isAlive: true };
    return { tab: new Tab((hear, onDead) => this.line(process, hear, onDead)), process };
  }

  /** `isTold`: the browser tells the tabs that it is dead, as some do. */
  killWorker(isTold: boolean): void {
    const told = [...this.onWorkerDead];
    this.onWorkerDead.clear();
    this.worker.isAlive = false;
    for (const { wire } of this.server.streams) wire.cut();
    this.server.streams.clear();
    this.worker = this.newWorker();
    if (isTold) for (const tell of told) tell();
  }

  private newWorker() {
    const never = () => undefined;
    const process = { isAlive: true };
    const hub = new Hub({
      open: (after, heard) => (process.isAlive ? this.server.open(after, heard) : never),
      isSignedIn: this.server.isSignedIn,
    });
    return Object.assign(process, { hub });
  }

  private line(tab: Process, hear: (message: FromHub) => void, onDead: () => void): Line {
    const { worker } = this;
    const [there, back] = [new Wire(this.chance), new Wire(this.chance)];
    const areAlive = () => tab.isAlive && worker.isAlive;
    const port: Port = {
      post: (message) => areAlive() && back.send(() => areAlive() && hear(message)),
    };
    if (tab.isAlive) this.onWorkerDead.add(onDead);
    return {
      send: (message) =>
        areAlive() && there.send(() => worker.isAlive && worker.hub.hear(port, message)),
      close: () => {
        this.onWorkerDead.delete(onDead);
        back.cut();
      },
    };
  }
}

/** A page of one run: at a join it loads what is stored, and it takes no gap and nothing twice. */
export class Reader implements Follower {
  joins = 0;
  status: StreamStatus | null = null;
  readonly statuses: StreamStatus[] = [];
  /** The last event that it has, loaded or told. */
  has = 0;
  private told: number | null = null;

  constructor(
    readonly run: string,
    private readonly server: SimulatedServer,
  ) {}

  onJoin = (): void => {
    this.joins += 1;
    this.has = this.server.heads.get(this.run) ?? 0;
    this.told = null;
  };

  onEvent = ({ run, seq }: LiveEvent): void => {
    const isNext = this.told === null ? seq <= this.has + 1 : seq === this.told + 1;
    if (run !== this.run || this.joins === 0 || !isNext)
      throw new Error(`${run} ${seq} after ${this.told} (loaded up to ${this.has})`);
    this.told = seq;
    this.has = Math.max(this.has, seq);
  };

  onStatus = (status: StreamStatus): void => {
    this.status = status;
    this.statuses.push(status);
  };
}
