/**
 * Which leases a person's other tabs hold, so that no two tabs show the same comparison.
 *
 * Tabs tell each other over a channel and keep nothing. A busy tab may answer after another has gone
 * on without its answer, and two tabs that ask the server at once may be granted the same lease. So
 * each message says since when its tab has been there: of two tabs that hold a lease the elder keeps
 * it, and the younger lets go whenever it hears so.
 *
 * A tab that is closed says that it holds nothing, and the server gives its leases to whichever tab
 * asks next, except those for work offline: these come back when a tab is reloaded or takes
 * comparisons offline. Of a tab that crashed the browser tells the others (`alive.ts`), and they name
 * its leases no longer; where it cannot, they go on to name them until these end. What somebody works
 * on in both tabs stays in both; the second answer is kept for review.
 */
import { randomId } from "@/lib/random-id";

import type { Lives } from "./alive";

/** The part of a BroadcastChannel that is used here. */
export interface Channel {
  onmessage: ((event: MessageEvent<unknown>) => void) | null;
  postMessage: (message: unknown) => void;
  close: () => void;
}

interface Told {
  readonly tab: string;
  /** Missing in a tab that an older Podium has opened: it never lets go, so it counts as elder. */
  readonly since?: number;
  /** Null asks the others what they hold. */
  readonly ids: readonly string[] | null;
  /** Missing in a tab that an older Podium has opened: what it holds counts until it is closed. */
  readonly ends?: Ends;
  /** Whether the browser tells when the tab dies. */
  readonly isWatched?: boolean;
}

/** When leases end, in ms, by the ids of their assignments. */
export type Ends = ReadonlyMap<string, number>;

interface Holding {
  readonly tab: string;
  readonly since: number;
  readonly ends: Ends;
}

/** A lease lasts at least so long from its grant or its renewal. */
const LEASE_MS = 15 * 60_000;

/** Without what has ended: a tab that nobody looks at renews nothing, and anybody may be granted it. */
const heldBy = (tabs: Iterable<Holding>): string[] =>
  [...tabs].flatMap(({ ends }) =>
    [...ends.keys()].filter((id) => (ends.get(id) ?? 0) > Date.now()),
  );

const endless = (ids: readonly string[]): Ends => new Map(ids.map((id) => [id, Infinity]));

const isTold = (value: unknown): value is Told =>
  typeof value === "object" && value !== null && "tab" in value && "ids" in value;

export class OtherTabs {
  private readonly tab = randomId();
  private readonly others = new Map<string, Holding>();
  private own: Ends = new Map();
  /** The ends as the server said them last. */
  private said: Ends = new Map();
  private since = Date.now();
  private isWatched = false;
  private endLife: () => void = () => undefined;
  /** How to stop waiting for the death of a tab. */
  private readonly watches = new Map<string, () => void>();

  /**
   * `onElder` is told which of this tab's leases an elder tab holds, too, and lets go of them;
   * `onDeath` that a tab has died, and what it held is free.
   */
  constructor(
    private readonly channel: Channel,
    private readonly onElder: (ids: readonly string[]) => void,
    private readonly onDeath: () => void = () => undefined,
    private readonly lives: Lives | null = null,
  ) {
    channel.onmessage = ({ data }) => {
      if (isTold(data)) this.hear(data);
    };
    this.live();
    this.tell(null);
  }

  /** The assignments that other tabs have said to hold, and this one does not. */
  get held(): readonly string[] {
    return heldBy(this.others.values()).filter((id) => !this.own.has(id));
  }

  hold(ends: Ends): void {
    const renewed = Date.now() + LEASE_MS;
    // An end that is new was set just now, whatever the clock of this computer makes of it.
    const until = (id: string, end: number) =>
      this.said.get(id) === end ? (this.own.get(id) ?? end) : Math.max(end, renewed);
    this.own = new Map([...ends].map(([id, end]) => [id, until(id, end)]));
    this.said = ends;
    this.tell(this.own);
    this.yieldToElders();
  }

  /** The page is left: closed, or kept by the browser until somebody comes back to it. */
  leave(): void {
    this.tell(new Map());
    // The browser keeps no page that holds a lock.
    this.isWatched = false;
    this.endLife();
    this.watchNone();
  }

  /** The page is looked at again. Its leases were free meanwhile, so it counts as the youngest. */
  comeBack(): void {
    this.since = Date.now();
    this.live();
    this.tell(this.own);
    this.tell(null);
  }

  close(): void {
    this.leave();
    this.channel.close();
  }

  /** Nor by one that waits for a lock. Whoever lives answers when somebody comes back. */
  private watchNone(): void {
    for (const [tab, stop] of this.watches) {
      stop();
      this.others.delete(tab);
    }
    this.watches.clear();
  }

  private live(): void {
    if (this.lives === null) return;
    this.endLife = this.lives.begin(this.tab, () => {
      this.isWatched = true;
      if (this.own.size > 0) this.tell(this.own);
    });
  }

  private hear({ tab, since = 0, ids, ends, isWatched = false }: Told): void {
    if (ids === null) {
      if (this.own.size > 0) this.tell(this.own);
      return;
    }
    this.others.set(tab, { tab, since, ends: ends ?? endless(ids) });
    this.watch(tab, isWatched && ids.length > 0);
    this.yieldToElders();
  }

  /** What has no lease leaves none, and is not waited for. */
  private watch(tab: string, isWanted: boolean): void {
    const stop = this.watches.get(tab);
    if (isWanted === (stop !== undefined)) return;
    stop?.();
    this.watches.delete(tab);
    if (isWanted && this.lives !== null)
      this.watches.set(
        tab,
        this.lives.afterDeath(tab, () => {
          this.watches.delete(tab);
          this.others.delete(tab);
          this.onDeath();
        }),
      );
  }

  private yieldToElders(): void {
    const elders = [...this.others.values()].filter((other) => this.isElder(other));
    const theirs = heldBy(elders);
    const shared = [...this.own.keys()].filter((id) => theirs.includes(id));
    if (shared.length > 0) this.onElder(shared);
  }

  /** Whether another tab is elder than this one; both find the same. */
  private isElder({ tab, since }: Holding): boolean {
    return since === this.since ? tab < this.tab : since < this.since;
  }

  private tell(own: Ends | null): void {
    const told = own === null ? { ids: null } : { ids: [...own.keys()], ends: own };
    const { tab, since, isWatched } = this;
    this.channel.postMessage({ tab, since, isWatched, ...told } satisfies Told);
  }
}

/** Lets the others know when the page is left and when somebody comes back; returns how to end it. */
export function whileLookedAt(tabs: OtherTabs): () => void {
  const leave = () => tabs.leave();
  const comeBack = (event: PageTransitionEvent) => {
    if (event.persisted) tabs.comeBack();
  };
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", comeBack);
  return () => {
    window.removeEventListener("pagehide", leave);
    window.removeEventListener("pageshow", comeBack);
  };
}
