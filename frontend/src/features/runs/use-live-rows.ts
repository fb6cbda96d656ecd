/**
 * What happens to the runs of a list, told by the stream: nothing is asked for while nothing happens.
 *
 * Runs that have ended are followed, too, as somebody may queue them again; all tabs of a browser
 * share one stream for all of them.
 */
import { useQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { Problem, untilAnswered } from "@/api/client";
import { runsByIdQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { LiveEvent } from "@/api/stream/messages";
import type { Listing, Run } from "@/api/types";
import { isLive } from "@/components/run-list/batches";

import { afterEvent, NOTHING_TOLD, type Told } from "./told";

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
  readonly heard: LiveEvent[];
}

/** Puts runs that were asked for anew where they stand in the lists. */
function inPlace(pages: InfiniteData<Listing<Run>> | undefined, found: readonly Run[]) {
  if (pages === undefined) return undefined;
  const anew = new Map(found.map((run) => [run.id, run]));
  const items = (page: Listing<Run>) => page.items.map((run) => anew.get(run.id) ?? run);
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: items(page) })) };
}

/** The runs with what they have told since they were loaded. */
export function useLiveRows(runs: readonly Run[], columns: string): readonly LiveRow[] {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [told, setTold] = useState<ToldByRun>(new Map());
  const waiting = useRef<Waiting>({ changed: new Set(), heard: [] });
  const idsOf = (wanted: readonly Run[]) => wanted.map(({ id }) => id);
  const live = runs.filter(isLive).slice(0, MOST_FOLLOWED);
  const others = runs.filter((run) => !isLive(run)).slice(0, MOST_FOLLOWED - live.length);
  const followed = [...idsOf(live), ...idsOf(others)].sort().join();
  const going = idsOf(live).sort().join();

  useEffect(() => {
    if (userId === undefined || followed === "") return;
    const goesOn = new Set(going.split(","));
    const { changed } = waiting.current;
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const shown = new Set(followed.split(","));
    const askAgain = async () => {
      const ids = [...changed].filter((id) => shown.has(id));
      changed.clear();
      if (ids.length === 0) return;
      const retry = untilAnswered(() => isShown);
      const query = { ...runsByIdQuery(ids, columns), staleTime: 0, retry };
      const found = await client.fetchQuery(query).catch((problem: unknown) => {
        // What is refused now is refused again, with all that is asked beside it.
        if (problem instanceof Problem && problem.isPassing) for (const id of ids) changed.add(id);
        throw problem;
      });
      client.setQueriesData<InfiniteData<Listing<Run>>>({ queryKey: ["runs", "pages"] }, (pages) =>
        inPlace(pages, found),
      );
    };
    const draw = () => {
      timer = undefined;
      const events = waiting.current.heard.splice(0);
      if (events.length > 0)
        setTold((before) => {
          const after = new Map(before);
          for (const event of events)
            after.set(event.run, afterEvent(after.get(event.run) ?? NOTHING_TOLD, event));
          return after;
        });
      // Where it fails the next change asks again.
      if (changed.size > 0) askAgain().catch(() => undefined);
    };
    const soon = () => {
      timer ??= setTimeout(draw, REDRAW_MS);
    };
    const leave = followed.split(",").map((runId) =>
      followRun(userId, runId, {
        // What it told between the list and now is in its answer.
        onJoin: () => {
          if (!goesOn.has(runId)) return;
          changed.add(runId);
          soon();
        },
        onEvent: (event) => {
          if (["state", "rewind", "reset"].includes(event.type)) changed.add(runId);
          waiting.current.heard.push(event);
          soon();
        },
        onStatus: () => undefined,
      }),
    );
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
