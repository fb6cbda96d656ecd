/**
 * What happens to the runs of a list, told by the stream: nothing is asked for while nothing happens.
 *
 * Runs that have ended are followed, too, as somebody may queue them again; all tabs of a browser
 * share one stream for all of them.
 */
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { LiveEvent } from "@/api/stream/messages";
import type { Run } from "@/api/types";
import { isLive } from "@/components/run-list/batches";

import { askAgain, mayBeAskedAgain, type Since } from "./ask-again";
import { afterAnswer, afterEvent, NOTHING_TOLD, type Told } from "./told";

/** Of one stream; those that go on come first. */
const MOST_FOLLOWED = 100;
const REDRAW_MS = 250;

export interface LiveRow {
  readonly run: Run;
  /** Values that came after the list was loaded, by metric. */
  readonly fresh: Told["values"];
}

type ToldByRun = ReadonlyMap<string, Told>;

/** What is told and not drawn yet; it outlasts a change of the list. */
interface Waiting {
  /** Runs to be asked for anew. */
  readonly changed: Set<string>;
  /** Runs whose curves are no longer those that were loaded, and grew. */
  readonly broken: Set<string>;
  readonly heard: LiveEvent[];
  readonly since: Since;
  /** Runs that are followed without a gap, as far as is known. */
  readonly joined: Set<string>;
}

const nothingWaits = (): Waiting => ({
  ...{ changed: new Set(), broken: new Set(), heard: [], since: new Map(), joined: new Set() },
});

const BREAKS: ReadonlySet<string> = new Set(["rewind", "reset"]);
const CHANGES: ReadonlySet<string> = new Set(["state", ...BREAKS]);

const only = (told: ToldByRun, shown: ReadonlySet<string>): ToldByRun =>
  [...told.keys()].every((runId) => shown.has(runId))
    ? told
    : new Map([...told].filter(([runId]) => shown.has(runId)));

function afterEvents(told: ToldByRun, events: readonly LiveEvent[]): ToldByRun {
  const after = new Map(told);
  for (const event of events)
    after.set(event.run, afterEvent(after.get(event.run) ?? NOTHING_TOLD, event));
  return after;
}

/** `answered`: what runs have told since they were asked for. */
const afterAnswers = (told: ToldByRun, answered: Since): ToldByRun =>
  new Map([
    ...told,
    ...[...answered].map(
      ([runId, since]) => [runId, afterAnswer(told.get(runId) ?? NOTHING_TOLD, since)] as const,
    ),
  ]);

/** The trends of these runs; those that nobody looks at once somebody does. */
function loadCurvesAgain(client: QueryClient, runIds: ReadonlySet<string>) {
  const isOfOne = (queryKey: readonly unknown[]) =>
    (queryKey[1] as readonly string[]).some((runId) => runIds.has(runId));
  const predicate = ({ queryKey }: { queryKey: readonly unknown[] }) => isOfOne(queryKey);
  void client.invalidateQueries({ queryKey: ["metrics"], predicate });
}

/** The runs with what they have told since they were loaded. */
export function useLiveRows(runs: readonly Run[], columns: string): readonly LiveRow[] {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [told, setTold] = useState<ToldByRun>(new Map());
  const waiting = useRef(nothingWaits());
  const idsOf = (wanted: readonly Run[]) => wanted.map(({ id }) => id);
  const live = runs.filter(isLive).slice(0, MOST_FOLLOWED);
  const others = runs.filter((run) => !isLive(run)).slice(0, MOST_FOLLOWED - live.length);
  const followed = [...idsOf(live), ...idsOf(others)].sort().join();
  const going = idsOf(live).sort().join();

  // What others told ages: they may come back to the list with an answer that is newer.
  const [toldOf, setToldOf] = useState(followed);
  if (toldOf !== followed) {
    setToldOf(followed);
    setTold(only(told, new Set(followed.split(","))));
  }

  useEffect(() => {
    if (userId === undefined || followed === "") return;
    const shown = new Set(followed.split(","));
    const goesOn = new Set(going.split(","));
    const { changed, broken, since, joined } = waiting.current;
    for (const id of [...joined]) if (!shown.has(id)) joined.delete(id);
    let isBeginning = true;
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const asker = { client, columns, isShown: () => isShown };
    const askForChanged = async () => {
      const ids = [...changed].filter((id) => shown.has(id));
      changed.clear();
      if (ids.length === 0) return;
      try {
        const answered = await askAgain(asker, ids, since);
        setTold((before) => afterAnswers(before, answered));
      } catch (problem) {
        // The next change asks again.
        if (mayBeAskedAgain(problem)) for (const id of ids) changed.add(id);
      }
    };
    const draw = () => {
      timer = undefined;
      const events = waiting.current.heard.splice(0).filter(({ run }) => shown.has(run));
      if (events.length > 0) setTold((before) => afterEvents(before, events));
      if (broken.size > 0) loadCurvesAgain(client, new Set(broken));
      broken.clear();
      void askForChanged();
    };
    const soon = () => {
      timer ??= setTimeout(draw, REDRAW_MS);
    };
    const leave = [...shown].map((runId) =>
      followRun(userId, runId, {
        // What it told between the list and now is in its answer.
        onJoin: () => {
          // Told at once, it goes on as it was followed for the list before.
          const hadGap = joined.has(runId) && !isBeginning;
          joined.add(runId);
          if (!hadGap && !goesOn.has(runId)) return;
          changed.add(runId);
          if (hadGap) broken.add(runId);
          soon();
        },
        onEvent: (event) => {
          if (CHANGES.has(event.type)) changed.add(runId);
          if (BREAKS.has(event.type)) broken.add(runId);
          waiting.current.heard.push(event);
          since.get(runId)?.push(event);
          soon();
        },
        onStatus: () => undefined,
      }),
    );
    isBeginning = false;
    // What was told just before another list was followed.
    if (changed.size > 0 || waiting.current.heard.length > 0) soon();
    return () => {
      isShown = false;
      for (const one of leave) one();
      clearTimeout(timer);
    };
  }, [client, columns, followed, going, userId]);

  return useMemo(() => runs.map((run) => rowOf(run, told.get(run.id))), [runs, told]);
}

function rowOf(run: Run, told: Told | undefined): LiveRow {
  if (told === undefined) return { run, fresh: {} };
  const progress = { ...run.progress, ...told.progress };
  const summary = { ...run.summary, ...told.summary };
  return { run: { ...run, progress, summary }, fresh: told.values };
}
