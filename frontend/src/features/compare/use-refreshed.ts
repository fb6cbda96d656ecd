/**
 * What is compared is asked for again when one of its runs tells something of it: nothing is asked
 * for while nothing happens. All tabs of a browser share one stream; while it is cut, everything is
 * asked for now and then.
 */
import { useQuery, useQueryClient, type Query, type QueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { runsByIdQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { LiveEvent, StreamStatus } from "@/api/stream/messages";
import type { Run, SeedGroups } from "@/api/types";
import { EVALUATIONS_REFETCH_MS, isLive } from "@/components/run-list/batches";
import { whenBack } from "@/lib/when-back";

/** Of one stream. */
const MOST_FOLLOWED = 100;
/** What several runs tell at once is one change. */
const SOON_MS = 250;

export const mayTell = (run: Run) => isLive(run) || run.state === "queued";

const BREAKS: ReadonlySet<string> = new Set(["rewind", "reset"]);
const ENDED: ReadonlySet<StreamStatus> = new Set(["waiting", "signed-out", "gone"]);
const EVALUATED = /^(?:eval|gold|outside)\//;

/** What runs have told since their curves were asked for: of which metrics, or that all may differ. */
interface Told {
  readonly names: Set<string>;
  isAll: boolean;
}

function namesOf({ type, data }: LiveEvent): readonly string[] {
  if (type !== "metric") return [];
  const points = (data["points"] ?? []) as readonly { readonly values: object }[];
  return points.flatMap(({ values }) => Object.keys(values));
}

/** Whether the answer to a question about these runs is another one after what was told. */
export function isTouched({ queryKey, state }: Pick<Query, "queryKey" | "state">, told: Told) {
  const [kind, , what, name] = queryKey;
  if (kind !== "metrics" && kind !== "seed-groups") return false;
  if (told.isAll) return true;
  if (kind === "metrics")
    return String((what as { names?: string }).names)
      .split(",")
      .some((one) => told.names.has(one));
  if (what === "curves") return told.names.has(String(name));
  // Which metric decides may change with each evaluation.
  const decides = (state.data as SeedGroups | undefined)?.metric ?? "";
  return told.names.has(decides) || [...told.names].some((one) => EVALUATED.test(one));
}

function refresh(client: QueryClient, runIds: readonly string[], told: Told): void {
  const asked = runIds.join();
  void client.invalidateQueries({
    predicate: (query) => String(query.queryKey[1]) === asked && isTouched(query, told),
  });
}

/** Asks for what was told, at most every ten seconds and not while nobody looks. */
function asker(client: QueryClient, runIds: readonly string[]) {
  let told: Told = { names: new Set(), isAll: false };
  let last = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = () => {
    timer = undefined;
    // It is asked for once somebody looks again.
    if (document.hidden) return;
    last = performance.now();
    refresh(client, runIds, told);
    told = { names: new Set(), isAll: false };
  };
  const askSoon = () => {
    if (!told.isAll && told.names.size === 0) return;
    const wait = last + EVALUATIONS_REFETCH_MS - performance.now();
    timer ??= setTimeout(ask, Math.max(SOON_MS, wait));
  };
  const stopLooking = whenBack(askSoon);
  return {
    all: () => {
      told.isAll = true;
      askSoon();
    },
    metrics: (names: readonly string[]) => {
      for (const name of names) told.names.add(name);
      askSoon();
    },
    stop: () => {
      stopLooking();
      clearTimeout(timer);
    },
  };
}

/** How often to ask without a stream, in milliseconds; false: not at all. */
export function useRefreshed(
  runIds: readonly string[],
  runs: readonly Run[] | undefined,
): number | false {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [cut, setCut] = useState<ReadonlySet<string>>(new Set());
  const asked = runIds.join();
  const followed = (runs ?? [])
    .filter(mayTell)
    .slice(0, MOST_FOLLOWED)
    .map(({ id }) => id)
    .join();

  useEffect(() => {
    if (userId === undefined || followed === "") return;
    const ids = asked.split(",");
    const ask = asker(client, ids);
    const follower = (run: string) => ({
      // What it told between the last answer and now is in the next.
      onJoin: ask.all,
      onEvent: (event: LiveEvent) => {
        if (event.type === "state")
          void client.invalidateQueries({ queryKey: runsByIdQuery(ids).queryKey });
        if (BREAKS.has(event.type)) ask.all();
        else ask.metrics(namesOf(event));
      },
      onStatus: (status: StreamStatus) =>
        setCut((before) => (before.has(run) === ENDED.has(status) ? before : toggled(before, run))),
    });
    const leave = followed.split(",").map((run) => followRun(userId, run, follower(run)));
    return () => {
      for (const one of leave) one();
      ask.stop();
      setCut(new Set());
    };
  }, [client, userId, followed, asked]);

  useAskedAgainWhenOneEnds(runIds, runs);
  return cut.size > 0 && EVALUATIONS_REFETCH_MS;
}

function toggled(before: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(one)) after.add(one);
  return after;
}

/** A run that begins or ends changes the answer and its last values. */
function useAskedAgainWhenOneEnds(runIds: readonly string[], runs: readonly Run[] | undefined) {
  const client = useQueryClient();
  const states = runs?.map((run) => `${run.id} ${run.state}`).join();
  const before = useRef<{ asked: string; states: string }>(undefined);
  useEffect(() => {
    if (states === undefined) return;
    const asked = runIds.join();
    if (before.current?.asked === asked && before.current.states !== states)
      refresh(client, runIds, { names: new Set(), isAll: true });
    before.current = { asked, states };
    // The runs are in their states.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, states]);
}
