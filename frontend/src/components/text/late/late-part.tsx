/**
 * A part of a text whose code is fetched when the first such part is shown. Until then, and while it
 * cannot be fetched, a fallback stands in its place.
 *
 * `React.lazy` remembers a failure for ever; this asks again when a part is shown next, when the
 * browser is online again, and when the tab is looked at again.
 */
import { type ComponentType, type ReactNode, useEffect, useSyncExternalStore } from "react";

import { whenBack } from "@/lib/when-back";

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;
type State = "unknown" | "loaded" | "failed";

export class LatePart<Props extends object> {
  private part: ComponentType<Props> | null = null;
  private asked: Promise<void> | null = null;
  private current: State = "unknown";
  private readonly listeners = new Set<() => void>();

  constructor(private readonly fetchPart: Load<Props>) {}

  get state(): State {
    return this.current;
  }

  get component(): ComponentType<Props> | null {
    return this.part;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Rejected if it cannot be fetched now; the next call tries again. */
  load(): Promise<void> {
    if (this.part !== null) return Promise.resolve();
    this.asked ??= this.fetchPart()
      .then(
        (module) => {
          this.part = module.default;
          this.become("loaded");
        },
        (error: unknown) => {
          this.become("failed");
          throw error;
        },
      )
      .finally(() => (this.asked = null));
    return this.asked;
  }

  private become(state: State): void {
    this.current = state;
    for (const listener of this.listeners) listener();
  }
}

interface LateProps<Props extends object> {
  readonly part: LatePart<Props>;
  readonly given: Props;
  readonly fallback: (hasFailed: boolean) => ReactNode;
}

export function Late<Props extends object>({ part, given, fallback }: LateProps<Props>) {
  const state = useSyncExternalStore(part.subscribe, () => part.state);
  const isLoaded = state === "loaded";
  useEffect(() => {
    if (isLoaded) return undefined;
    const ask = () => void part.load().catch(() => undefined);
    ask();
    return whenBack(ask);
  }, [part, isLoaded]);
  const Part = part.component;
  return Part === null ? fallback(state === "failed") : <Part {...given} />;
}
