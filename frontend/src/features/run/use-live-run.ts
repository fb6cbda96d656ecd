/** A run while it happens: its stream, its curves, its lines; redrawn at most ten times a second. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { logQuery, metricsQuery, runQuery } from "@/api/runs";
import { RunStream, type LiveEvent, type StreamStatus } from "@/api/stream";
import type { LogLine, Run, RunEvent } from "@/api/types";
import { LiveCurves, type Axis, type Point, type Zoom } from "@/charts/live-curves";

export const REDRAW_MS = 100;
const REFRESH_MS = 1000;
const POINTS = 1000;
const MOST_LINES = 20_000;

/** What there is to draw. */
interface Drawing {
  readonly live: LiveCurves;
  /** Whether what the run had told before this page is here. */
  readonly isLoaded: boolean;
  /** Why the curves could not be loaded; null if they were. */
  readonly error: unknown;
  readonly loadAgain: () => void;
  readonly lines: readonly LogLine[];
  readonly alerts: readonly RunEvent[];
}

export interface LiveRun extends Drawing {
  /** Grows whenever there is something new to draw. */
  readonly tick: number;
  readonly status: StreamStatus;
}

const nothing = (axis: Axis): Drawing => ({
  live: new LiveCurves(
    axis,
    () => Promise.resolve([]),
    () => undefined,
  ),
  isLoaded: false,
  error: null,
  loadAgain: () => undefined,
  lines: [],
  alerts: [],
});

function pointOf({ data }: LiveEvent): Point {
  const number = (name: string) => (typeof data[name] === "number" ? data[name] : 0);
  const values = (data["values"] ?? {}) as Record<string, number | null>;
  return { step: number("step"), tokens: number("tokens"), time: number("time"), values };
}

export function useLiveRun(runId: string, axis: Axis, zoom: Zoom): LiveRun {
  const client = useQueryClient();
  const [tick, setTick] = useState(0);
  const [shown, setShown] = useState<Drawing>(() => nothing(axis));
  const [status, setStatus] = useState<StreamStatus>("connecting");
  const loading = useRef<LiveCurves | null>(null);
  const [from, to] = zoom ?? [null, null];

  useEffect(() => {
    let lines: LogLine[] = [];
    let alerts: RunEvent[] = [];
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let refreshing: ReturnType<typeof setTimeout> | undefined;

    const draw = () => {
      drawing ??= setTimeout(() => {
        drawing = undefined;
        const { isLoaded, error } = curves;
        setShown({ live: curves, isLoaded, error, loadAgain: load, lines, alerts });
        setTick((now) => now + 1);
      }, REDRAW_MS);
    };
    const refresh = () => {
      refreshing ??= setTimeout(() => {
        refreshing = undefined;
        void client.invalidateQueries({
          queryKey: ["run", runId],
          predicate: ({ queryKey }) => queryKey[2] !== "logs",
        });
      }, REFRESH_MS);
    };
    const fetchSeries = async (part: Zoom) => {
      const [from, to] = part ?? [null, null];
      const query = metricsQuery([runId], { x: axis, from, to, points: POINTS });
      // One that is on its way may have begun before the stream: its answer would leave a gap.
      await client.cancelQueries({ queryKey: query.queryKey });
      return (await client.fetchQuery({ ...query, staleTime: 0 })).series;
    };
    const curves = new LiveCurves(axis, fetchSeries, draw);
    loading.current = curves;
    const load = () => void curves.load();
    const loadLines = async () => {
      const { queryKey } = logQuery(runId);
      // As above: an answer that is on its way may lack what was stored before the stream.
      await client.cancelQueries({ queryKey });
      await client.invalidateQueries({ queryKey });
    };
    /** Whatever was missed while the stream was away; what comes from now on, it tells. */
    const loadAll = () => {
      load();
      void loadLines();
      refresh();
    };
    const onEvent = (event: LiveEvent) => {
      switch (event.type) {
        case "metric":
          curves.append(pointOf(event));
          break;
        case "rewind":
          curves.rewind(Number(event.data["step"]));
          refresh();
          break;
        case "reset":
          lines = [];
          loadAll();
          break;
        case "progress":
          patchProgress(event);
          break;
        case "log":
          lines = [...lines, event.data as unknown as LogLine].slice(-MOST_LINES);
          break;
        case "alert":
          alerts = [...alerts, eventOf(event)];
          refresh();
          break;
        default:
          refresh();
      }
      draw();
    };
    const patchProgress = ({ data }: LiveEvent) => {
      const key = runQuery(runId).queryKey;
      client.setQueryData(key, (run: Run | undefined) =>
        run === undefined ? run : { ...run, progress: { ...run.progress, ...progressOf(data) } },
      );
    };

    const stream = new RunStream([runId], onEvent, (next) => {
      setStatus(next);
      if (next === "live") loadAll();
    });
    load();
    return () => {
      stream.close();
      curves.end();
      clearTimeout(drawing);
      clearTimeout(refreshing);
    };
  }, [client, runId, axis]);

  useEffect(() => {
    void loading.current?.zoomTo(from === null || to === null ? null : [from, to]);
  }, [runId, axis, from, to]);

  return { ...shown, tick, status };
}

function progressOf(data: LiveEvent["data"]): Partial<Run["progress"]> {
  const { step, steps, phase, eta_s } = data as Partial<Run["progress"]>;
  return {
    ...(typeof step === "number" && { step }),
    ...(typeof steps === "number" && { steps }),
    ...(typeof phase === "string" && { phase }),
    eta_s: eta_s ?? null,
  };
}

function eventOf({ seq, type, data, at }: LiveEvent): RunEvent {
  return { seq, type, data: { ...data }, created_at: at };
}
