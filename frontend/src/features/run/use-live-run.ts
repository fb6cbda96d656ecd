/** A run while it happens: its stream, its curves, its lines; redrawn at most ten times a second. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { metricsQuery, runQuery, type Axis } from "@/api/runs";
import { RunStream, type LiveEvent, type StreamStatus } from "@/api/stream";
import type { LogLine, Run, RunEvent } from "@/api/types";
import { LiveSeries, type Point } from "@/charts/live-series";

export const REDRAW_MS = 100;
const REFRESH_MS = 1000;
const POINTS = 1000;
const MOST_LINES = 20_000;

export interface LiveRun {
  readonly live: LiveSeries;
  /** Grows whenever there is something new to draw. */
  readonly tick: number;
  readonly status: StreamStatus;
  /** Whether what the run had told before this page is here. */
  readonly isLoaded: boolean;
  readonly error: unknown;
  readonly lines: readonly LogLine[];
  readonly alerts: readonly RunEvent[];
}

interface Box {
  live: LiveSeries;
  isLoaded: boolean;
  waiting: Point[];
  lines: LogLine[];
  alerts: RunEvent[];
}

const boxOf = (axis: Axis): Box => ({
  live: new LiveSeries(axis),
  isLoaded: false,
  waiting: [],
  lines: [],
  alerts: [],
});

function pointOf({ data }: LiveEvent): Point {
  const number = (name: string) => (typeof data[name] === "number" ? data[name] : 0);
  const values = (data["values"] ?? {}) as Record<string, number | null>;
  return { step: number("step"), tokens: number("tokens"), time: number("time"), values };
}

export function useLiveRun(runId: string, axis: Axis): LiveRun {
  const client = useQueryClient();
  const [tick, setTick] = useState(0);
  const [shown, setShown] = useState<Box>(() => boxOf(axis));
  const [status, setStatus] = useState<StreamStatus>("connecting");
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    const mine = boxOf(axis);
    let isGone = false;
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let refreshing: ReturnType<typeof setTimeout> | undefined;

    const draw = () => {
      drawing ??= setTimeout(() => {
        drawing = undefined;
        setShown({ ...mine });
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
    const load = async () => {
      mine.isLoaded = false;
      try {
        const query = metricsQuery([runId], { x: axis, points: POINTS });
        const { series } = await client.fetchQuery({ ...query, staleTime: 0 });
        if (isGone) return;
        mine.live.load(series, mine.waiting);
        mine.isLoaded = true;
        mine.waiting = [];
        setError(null);
      } catch (problem) {
        setError(problem);
      }
      draw();
    };
    const append = (point: Point) => {
      if (mine.isLoaded) mine.live.append(point);
      else mine.waiting.push(point);
    };
    const onEvent = (event: LiveEvent) => {
      switch (event.type) {
        case "metric":
          append(pointOf(event));
          break;
        case "rewind":
          if (axis === "step") mine.live.rewind(Number(event.data["step"]));
          else void load();
          refresh();
          break;
        case "reset":
          void load();
          refresh();
          break;
        case "progress":
          patchProgress(event);
          break;
        case "log":
          mine.lines = [...mine.lines, event.data as unknown as LogLine].slice(-MOST_LINES);
          break;
        case "alert":
          mine.alerts = [...mine.alerts, eventOf(event)];
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
      // Whatever was missed while the stream was away is loaded anew.
      if (next === "live") void load();
    });
    void load();
    return () => {
      isGone = true;
      stream.close();
      clearTimeout(drawing);
      clearTimeout(refreshing);
    };
  }, [client, runId, axis]);

  const { live, isLoaded, lines, alerts } = shown;
  return { live, isLoaded, lines, alerts, tick, status, error };
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
