/**
 * Refetches what is compared when the stream, which all tabs of a browser share, reports a change,
 * and while the stream is cut, every ten seconds. The answers also after any evaluation has succeeded:
 * it may be of a model of a compared run, whose stream tells nothing of it.
 *
 * Runs that have ended are followed, too: somebody may attach values to them or queue them again.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { newestEvaluationsQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { LiveEvent, StreamStatus } from "@/api/stream/messages";
import type { Run } from "@/api/types";
import { EVALUATIONS_REFETCH_MS, isLive } from "@/components/run-list/batches";

import { askerOf, ATTACHED, type Asker } from "./asker";

/** Of one stream; those that may tell come first. */
const MOST_FOLLOWED = 100;
/** How often to ask which evaluations succeeded last. */
const EVALUATED_REFETCH_MS = 60_000;

export const mayTell = (run: Run) => isLive(run) || run.state === "queued";

const BREAKS: ReadonlySet<string> = new Set(["rewind", "reset"]);
const CUT: ReadonlySet<StreamStatus> = new Set(["waiting", "signed-out", "gone"]);
function namesOf({ type, data }: LiveEvent): readonly string[] {
  if (type !== "metric") return [];
  const points = (data["points"] ?? []) as readonly { readonly values: object }[];
  return points.flatMap(({ values }) => Object.keys(values));
}

function hear(ask: Asker, event: LiveEvent): void {
  const names = namesOf(event);
  // A run that begins or ends changes the answer and its last values, and an attached one its names.
  if (event.type === "state" || names.some((name) => ATTACHED.test(name))) ask.runs();
  if (event.type === "state" || BREAKS.has(event.type)) ask.all();
  else if (event.type === "sample") ask.samples();
  else ask.metrics(names);
}

/** How often to ask beside what the stream tells, in milliseconds; false: not at all. */
export function useRefreshed(
  runIds: readonly string[],
  runs: readonly Run[] | undefined = [],
): number | false {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [cut, setCut] = useState<ReadonlySet<string>>(new Set());
  const asker = useRef<Asker>(undefined);
  const asked = runIds.join();
  const telling = runs.filter(mayTell);
  const idsOf = (wanted: readonly Run[]) => wanted.map(({ id }) => id);
  const others = runs.filter((run) => !mayTell(run));
  const followed = idsOf([...telling, ...others].slice(0, MOST_FOLLOWED))
    .sort()
    .join();
  const going = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    going.current = new Set(idsOf(telling));
  });

  // It outlasts a change of the runs that are followed.
  useEffect(() => {
    asker.current = askerOf(client, asked.split(","));
    return () => asker.current?.stop();
  }, [client, asked]);

  useEffect(() => {
    const ask = asker.current;
    if (userId === undefined || followed === "" || ask === undefined) return;
    const ids = followed.split(",");
    for (const id of [...ask.joined]) if (!ids.includes(id)) ask.joined.delete(id);
    let isBeginning = true;
    const follower = (run: string) => ({
      onJoin: () => {
        // Told at once, it goes on as it was followed before.
        const isKnown = ask.joined.has(run);
        ask.joined.add(run);
        if (isKnown && !isBeginning) ask.all();
        // What it told between the last answer and now is in the next.
        if (!isKnown && going.current.has(run)) ask.answeredBefore();
      },
      onEvent: (event: LiveEvent) => hear(ask, event),
      onStatus: (status: StreamStatus) =>
        setCut((before) => (before.has(run) === CUT.has(status) ? before : toggled(before, run))),
    });
    const leave = ids.map((run) => followRun(userId, run, follower(run)));
    isBeginning = false;
    return () => {
      for (const one of leave) one();
      setCut(new Set());
    };
  }, [client, userId, followed, asked]);

  const evaluated = useEvaluated(runIds.length > 0);
  useEffect(() => {
    if (evaluated !== "") asker.current?.answers();
  }, [evaluated]);

  return telling.some(({ id }) => cut.has(id)) && EVALUATIONS_REFETCH_MS;
}

/**
 * Which evaluations succeeded last; empty until a minute after the page has opened. By then the first
 * answers are there, and whatever is found may have ended since: they are asked for once more.
 */
function useEvaluated(enabled: boolean): string {
  const asked = useQuery({
    ...newestEvaluationsQuery,
    ...{ enabled, refetchInterval: EVALUATED_REFETCH_MS },
    ...{ initialData: "", staleTime: Infinity, gcTime: 0 },
  });
  return asked.data;
}

function toggled(before: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(one)) after.add(one);
  return after;
}
