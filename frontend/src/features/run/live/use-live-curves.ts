/** The curves of a run while it happens; redrawn at most ten times a second. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { untilAnswered } from "@/api/client";
import { metricsQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { Follower } from "@/api/stream/messages";
import { LiveCurves, type Axis, type Zoom } from "@/charts/live-curves";

import { butFirst } from "./but-first";

export const REDRAW_MS = 100;
const POINTS = 1000;

export interface DrawnCurves {
  readonly live: LiveCurves;
  /** Grows whenever there is something new to draw. */
  readonly tick: number;
  /** Whether what the run had told before this page is here. */
  readonly isLoaded: boolean;
  /** Why the curves could not be loaded; null if they were. */
  readonly error: unknown;
  /** Whether they are asked for, for the first time or again. */
  readonly isAsking: boolean;
  readonly loadAgain: () => void;
}

const nothing = (axis: Axis): DrawnCurves => {
  const live = new LiveCurves(
    axis,
    () => Promise.resolve([]),
    () => undefined,
  );
  return {
    live,
    tick: 0,
    isLoaded: false,
    error: null,
    isAsking: true,
    loadAgain: () => undefined,
  };
};

/** Of a run that is over, everything is loaded when the page begins to follow it. */
function follower(live: LiveCurves, mayMoveOn: boolean): Follower {
  const { onEvent, onStatus } = live;
  return { onJoin: mayMoveOn ? live.onJoin : butFirst(live.onJoin), onEvent, onStatus };
}

/** `mayMoveOn`: of a run that is over nothing more is told than what somebody attaches to it. */
export function useLiveCurves(
  runId: string,
  mayMoveOn: boolean,
  axis: Axis,
  zoom: Zoom,
): DrawnCurves {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [shown, setShown] = useState(() => nothing(axis));
  const newest = useRef<LiveCurves | null>(null);
  const [from, to] = zoom ?? [null, null];

  useEffect(() => {
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let isShown = true;
    const draw = () => {
      drawing ??= setTimeout(() => {
        drawing = undefined;
        const { isLoaded, error, isAsking } = live;
        const loadAgain = () => void live.load();
        const now = { live, isLoaded, error, isAsking, loadAgain };
        setShown(({ tick }) => ({ ...now, tick: tick + 1 }));
      }, REDRAW_MS);
    };
    const fetchSeries = async (part: Zoom) => {
      const [from, to] = part ?? [null, null];
      const query = metricsQuery([runId], { x: axis, from, to, points: POINTS });
      // One that is on its way may have begun before the stream: its answer would leave a gap.
      await client.cancelQueries({ queryKey: query.queryKey });
      const retry = untilAnswered(() => isShown);
      return (await client.fetchQuery({ ...query, staleTime: 0, retry })).series;
    };
    const live = new LiveCurves(axis, fetchSeries, draw);
    newest.current = live;
    void live.load();
    const leave = userId === undefined ? null : followRun(userId, runId, follower(live, mayMoveOn));
    return () => {
      isShown = false;
      leave?.();
      live.end();
      clearTimeout(drawing);
    };
  }, [client, runId, axis, userId, mayMoveOn]);

  useEffect(() => {
    void newest.current?.zoomTo(from === null || to === null ? null : [from, to]);
  }, [runId, axis, userId, mayMoveOn, from, to]);

  return shown;
}
