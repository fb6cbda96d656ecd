/**
 * Refetches the queries that an event of a compared run made stale, but none that was fetched since,
 * and none while the page is hidden.
 */
import type { Query, QueryClient } from "@tanstack/react-query";

import { runsByIdQuery } from "@/api/runs";
import type { SeedGroups } from "@/api/types";
import { EVALUATIONS_REFETCH_MS } from "@/components/run-list/batches";
import { whenBack } from "@/lib/when-back";

/** What several runs tell at once is one change. */
const SOON_MS = 250;
const NEVER = -Infinity;

export const ATTACHED = /^(?:gold|outside)\//;
const EVALUATED = /^(?:eval|gold|outside)\//;

/** When runs told last what changes answers, since these were asked for; in milliseconds. */
interface Told {
  /** Of a metric. */
  readonly names: ReadonlyMap<string, number>;
  /** That all may differ. */
  readonly all: number;
  /** That samples were logged. */
  readonly samples: number;
  /** That what is not a curve may differ. */
  readonly answers: number;
  /** That from here on it is told everything: what was asked for before may differ. */
  readonly joined: number;
}

const NOTHING: Told = {
  ...{ names: new Map(), all: NEVER, samples: NEVER },
  ...{ answers: NEVER, joined: NEVER },
};

type Question = Pick<Query, "queryKey" | "state">;

/** When something was told last that makes the answer to this question another one. */
function toldOf({ queryKey, state }: Question, told: Told): number {
  const [kind, , what, name] = queryKey;
  const last = (isOne: (name: string) => boolean) =>
    Math.max(told.all, ...[...told.names].map(([one, at]) => (isOne(one) ? at : NEVER)));
  if (kind === "metrics") {
    const names = String((what as { names?: string }).names).split(",");
    return last((one) => names.includes(one));
  }
  if (kind === "shared-prompts") return Math.max(told.all, told.samples);
  // Those of runs at work are asked for again and again anyway.
  if (kind === "verdicts") return last((one) => ATTACHED.test(one));
  if (what === "curves") return last((one) => one === name);
  // Which metric decides may change with each evaluation.
  const decides = (state.data as SeedGroups | undefined)?.metric ?? "";
  return Math.max(
    told.answers,
    last((one) => one === decides || EVALUATED.test(one)),
  );
}

/** When each question was asked last. */
function keepBeginnings(client: QueryClient) {
  const begun = new WeakMap<Query, number>();
  const stop = client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return;
    if (event.action.type === "fetch") begun.set(event.query, Date.now());
    // It has no answer.
    if (event.action.type === "error") begun.delete(event.query);
  });
  return { of: (query: Query) => begun.get(query) ?? 0, stop };
}

export type Asker = ReturnType<typeof askerOf>;

/** Asks for curves and answers at most every ten seconds; for the runs themselves soon. */
export function askerOf(client: QueryClient, runIds: readonly string[]) {
  const asked = runIds.join();
  const begun = keepBeginnings(client);
  let told = NOTHING;
  let runsTold = NEVER;
  let last = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let runsTimer: ReturnType<typeof setTimeout> | undefined;

  /** Of all runs; of prompts and verdicts, of some of them. */
  const isOfThese = ([kind, of]: Query["queryKey"]) => {
    if (kind === "metrics" || kind === "seed-groups") return String(of) === asked;
    if (kind !== "shared-prompts" && kind !== "verdicts") return false;
    return String(of)
      .split(",")
      .every((id) => runIds.includes(id));
  };
  const isAnother = (query: Query, told: Told) => {
    if (!isOfThese(query.queryKey)) return false;
    const at = begun.of(query);
    return at <= toldOf(query, told) || at < told.joined;
  };
  const ask = () => {
    timer = undefined;
    // It is asked for once somebody looks again.
    if (document.hidden) return;
    last = performance.now();
    const now = told;
    const isTold = (query: Query) => isAnother(query, now);
    // A first answer that is under way cannot be asked for anew: it is once it has come.
    const isPending = client.isFetching({
      predicate: (query) => query.state.data === undefined && isTold(query),
    });
    told = isPending > 0 ? now : NOTHING;
    void client.invalidateQueries({ predicate: isTold });
    if (isPending > 0) askSoon();
  };
  const askForRuns = () => {
    runsTimer = undefined;
    if (document.hidden) return;
    const now = runsTold;
    runsTold = NEVER;
    const { queryKey } = runsByIdQuery(runIds);
    void client.invalidateQueries({ queryKey, predicate: (query) => begun.of(query) <= now });
  };
  const askSoon = () => {
    if (runsTold !== NEVER) runsTimer ??= setTimeout(askForRuns, SOON_MS);
    if (told === NOTHING) return;
    const wait = last + EVALUATIONS_REFETCH_MS - performance.now();
    timer ??= setTimeout(ask, Math.max(SOON_MS, wait));
  };
  const stopLooking = whenBack(askSoon);
  const hear = (news: Partial<Told>) => {
    told = { ...told, ...news };
    askSoon();
  };
  return {
    /** Runs that are followed without a gap, as far as is known. */
    joined: new Set<string>(),
    all: () => hear({ all: Date.now() }),
    samples: () => hear({ samples: Date.now() }),
    answers: () => hear({ answers: Date.now() }),
    answeredBefore: () => hear({ joined: Date.now() }),
    metrics: (names: readonly string[]) => {
      if (names.length === 0) return;
      hear({ names: new Map([...told.names, ...names.map((one) => [one, Date.now()] as const)]) });
    },
    runs: () => {
      runsTold = Date.now();
      askSoon();
    },
    stop: () => {
      stopLooking();
      begun.stop();
      clearTimeout(timer);
      clearTimeout(runsTimer);
    },
  };
}
