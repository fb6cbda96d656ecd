/**
 * Which leases a person's other tabs hold, so that no two tabs show the same comparison.
 *
 * Tabs tell each other over a channel and keep nothing: a tab that dies holds nothing from then on,
 * and the server gives its leases to whichever tab asks next. A tab that sleeps and says nothing may
 * see a comparison shared; then its second answer is kept for review.
 */
import { randomId } from "@/lib/random-id";

interface Told {
  readonly tab: string;
  /** Null asks the others what they hold. */
  readonly ids: readonly string[] | null;
}

const isTold = (value: unknown): value is Told =>
  typeof value === "object" && value !== null && "tab" in value && "ids" in value;

export class OtherTabs {
  private readonly tab = randomId();
  private readonly others = new Map<string, readonly string[]>();
  private own: readonly string[] = [];

  constructor(private readonly channel: BroadcastChannel) {
    channel.onmessage = (event: MessageEvent<unknown>) => {
      if (isTold(event.data)) this.hear(event.data);
    };
    this.tell(null);
  }

  /** The assignments that other tabs have said to hold. */
  get held(): readonly string[] {
    return [...this.others.values()].flat();
  }

  hold(ids: readonly string[]): void {
    this.own = ids;
    this.tell(ids);
  }

  close(): void {
    this.tell([]);
    this.channel.close();
  }

  private hear({ tab, ids }: Told): void {
    if (ids !== null) this.others.set(tab, ids);
    else if (this.own.length > 0) this.tell(this.own);
  }

  private tell(ids: Told["ids"]): void {
    this.channel.postMessage({ tab: this.tab, ids } satisfies Told);
  }
}
