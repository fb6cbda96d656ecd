/**
 * What the tabs of one browser share: a run that several of them follow is asked for once.
 *
 * It lives in a SharedWorker, or in the page itself where there is none. A tab says which runs it
 * follows; the feed of a run tells its tabs. A tab that is killed says nothing, so tabs are pinged;
 * a frozen one that answers late joins its runs anew. It knows no browser.
 */
import { Feed, type Port, type Server } from "./feed";
import { PING_MS, type ToHub } from "./messages";

interface Tab {
  runs: ReadonlySet<string>;
  unanswered: number;
}

/** Of one stream; the server allows no more. */
export const MOST_RUNS = 100;
/** Pings after which a tab counts as gone; until then it costs little. */
export const MOST_UNANSWERED = 10;

export class Hub {
  private readonly tabs = new Map<Port, Tab>();
  private readonly feeds = new Map<string, Feed>();
  private pinging: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly server: Server) {}

  /** A tab says which runs it follows; none: it follows nothing any more. */
  hear(port: Port, message: ToHub): void {
    const before = this.tabs.get(port)?.runs ?? new Set();
    const runs = new Set(message);
    if (runs.size === 0) this.tabs.delete(port);
    else this.tabs.set(port, { runs, unanswered: 0 });
    for (const run of runs) if (!before.has(run)) this.feedOf(run).follow(run, port);
    for (const run of before)
      if (!runs.has(run) && this.feeds.get(run)?.leave(run, port) === false) this.feeds.delete(run);
    this.pinging ??= setInterval(() => this.ping(), PING_MS);
  }

  /** The tab at the other end is gone. */
  forget(port: Port): void {
    this.hear(port, []);
  }

  private feedOf(run: string): Feed {
    const feed =
      this.feeds.get(run) ??
      [...this.feeds.values()].find(({ size }) => size < MOST_RUNS) ??
      new Feed(this.server);
    this.feeds.set(run, feed);
    return feed;
  }

  private ping(): void {
    for (const feed of new Set(this.feeds.values())) feed.tick();
    for (const [port, tab] of this.tabs) {
      if (tab.unanswered >= MOST_UNANSWERED) {
        this.forget(port);
        continue;
      }
      tab.unanswered += 1;
      port.post({ kind: "ping" });
    }
    if (this.tabs.size > 0) return;
    clearInterval(this.pinging);
    this.pinging = undefined;
  }
}
