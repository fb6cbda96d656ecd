/** What is told of a run while it happens, but for its curves: lines, alerts, progress, its state. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { logQuery, runQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import { followRun } from "@/api/stream/follow";
import type { LiveEvent, StreamStatus } from "@/api/stream/messages";
import { progressOf } from "@/api/stream/progress";
import type { LogLine, Run, RunEvent } from "@/api/types";
import { isFromOutside } from "@/charts/live-curves";

import { butFirst } from "./but-first";
import { REDRAW_MS } from "./use-live-curves";

const REFRESH_MS = 1000;
/** A run may log samples at every step: whoever reads them needs no new list each second. */
const SAMPLES_REFRESH_MS = 5000;
const MOST_LINES = 20_000;

interface Heard {
  readonly runId: string;
  readonly lines: readonly LogLine[];
  readonly alerts: readonly RunEvent[];
}

export interface LiveRun extends Heard {
  readonly status: StreamStatus;
}

const nothing = (runId: string): Heard => ({ runId, lines: [], alerts: [] });

/** `mayMoveOn`: of a run that is over nothing more is told than what somebody does with it. */
export function useLiveRun(runId: string, mayMoveOn: boolean): LiveRun {
  const client = useQueryClient();
  const userId = useQuery(meQuery).data?.id;
  const [heard, setHeard] = useState(() => nothing(runId));
  const [status, setStatus] = useState<StreamStatus>("connecting");

  useEffect(() => {
    if (userId === undefined) return;
    let { lines, alerts } = nothing(runId);
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let refreshing: ReturnType<typeof setTimeout> | undefined;
    let sampling: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      drawing ??= setTimeout(() => {
        drawing = undefined;
        setHeard({ runId, lines, alerts });
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
    const refreshSamples = () => {
      sampling ??= setTimeout(() => {
        sampling = undefined;
        void client.invalidateQueries({ queryKey: runQuery(runId).queryKey, exact: true });
        void client.invalidateQueries({ queryKey: ["run", runId, "samples"] });
      }, SAMPLES_REFRESH_MS);
    };
    /** What was before; what comes from now on, the stream tells. */
    const loadAll = () => {
      void reloadLines();
      refresh();
    };
    const reloadLines = async () => {
      const { queryKey } = logQuery(runId);
      // One that is on its way may have begun before the stream: its answer would leave a gap.
      await client.cancelQueries({ queryKey });
      await client.invalidateQueries({ queryKey });
    };
    const patchProgress = ({ data }: LiveEvent) => {
      const key = runQuery(runId).queryKey;
      client.setQueryData(key, (run: Run | undefined) =>
        run === undefined ? run : { ...run, progress: { ...run.progress, ...progressOf(data) } },
      );
    };
    const onEvent = (event: LiveEvent) => {
      switch (event.type) {
        case "metric":
          // The verdict changes, and of a run that is over nobody asks for it again.
          return isAttached(event) ? refresh() : undefined;
        case "reset":
          lines = [];
          loadAll();
          return draw();
        case "sample":
          return refreshSamples();
        case "progress":
          return patchProgress(event);
        case "log":
          lines = [...lines, event.data as unknown as LogLine].slice(-MOST_LINES);
          return draw();
        case "alert":
          alerts = [...alerts, eventOf(event)];
          refresh();
          return draw();
        default:
          return refresh();
      }
    };
    const onJoin = mayMoveOn ? loadAll : butFirst(loadAll);
    const leave = followRun(userId, runId, { onJoin, onEvent, onStatus: setStatus });
    return () => {
      leave();
      clearTimeout(drawing);
      clearTimeout(sampling);
      if (!mayMoveOn) return;
      setHeard({ runId, lines, alerts });
      // A run that has just ended: its end may be known before its last events were told.
      loadAll();
    };
  }, [client, userId, runId, mayMoveOn]);

  return { ...(heard.runId === runId ? heard : nothing(runId)), status };
}

/** Whether values were attached, not logged by the trainer. */
function isAttached({ data }: LiveEvent): boolean {
  const points = (data["points"] ?? []) as readonly { readonly values: object }[];
  return points.some(({ values }) => Object.keys(values).some(isFromOutside));
}

function eventOf({ seq, type, data, at }: LiveEvent): RunEvent {
  return { seq, type, data: { ...data }, created_at: at };
}
