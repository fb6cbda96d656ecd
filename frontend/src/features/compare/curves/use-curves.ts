/** The curves of one metric of everything that is compared, closer where the reader zooms. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery } from "@/api/seed-groups";
import type { GroupCurve, Series } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { useView } from "@/features/compare/view";

import { around, groupCurve, isComplete, runCurve } from "./closer";

const POINTS = 300;
/** Of a part with room on both sides. */
const PART_POINTS = 2 * POINTS;

export interface ComparedCurves {
  readonly groups: readonly GroupCurve[];
  /** By run. */
  readonly runs: ReadonlyMap<string, Curve>;
}

const nobody: readonly Series[] = [];
const nothing: readonly GroupCurve[] = [];

/** `curves`: null until they are here. */
export function useCurves(name: string, refetchInterval: number | false) {
  const { runIds, axis, zoom } = useView();
  const [from, to] = zoom === null ? [null, null] : around(zoom);
  const whole = { x: axis, points: POINTS };
  const part = { x: axis, from, to, points: PART_POINTS };
  const groups = useQuery({ ...groupCurvesQuery(runIds, name, whole), refetchInterval });
  const runs = useQuery({ ...metricsQuery(runIds, { names: name, ...whole }), refetchInterval });
  const mayShowMore = runs.data !== undefined && !isComplete(runs.data.series);
  const close = { refetchInterval, enabled: zoom !== null && mayShowMore };
  const closeGroups = useQuery({ ...groupCurvesQuery(runIds, name, part), ...close });
  const closeRuns = useQuery({ ...metricsQuery(runIds, { names: name, ...part }), ...close });
  const all = [groups, runs, closeGroups, closeRuns];

  const [items, series] = [groups.data?.items, runs.data?.series];
  const isClose = close.enabled && closeGroups.data !== undefined && closeRuns.data !== undefined;
  const closeItems = isClose ? closeGroups.data.items : nothing;
  const closeSeries = isClose ? closeRuns.data.series : nobody;
  const curves = useMemo((): ComparedCurves | null => {
    if (items === undefined || series === undefined) return null;
    const bounds = from === null || to === null ? null : ([from, to] as const);
    const partOf = new Map(closeSeries.map((one) => [one.run, one]));
    return {
      groups: items.map((one) =>
        groupCurve(
          one,
          closeItems.find(({ group }) => group === one.group),
          bounds,
        ),
      ),
      runs: new Map(
        series.map((one) => [one.run, runCurve(one, partOf.get(one.run) ?? null, bounds)]),
      ),
    };
  }, [items, series, closeItems, closeSeries, from, to]);
  return {
    curves,
    /** What was asked for to draw them; null = everything. */
    bounds: close.enabled && zoom !== null ? around(zoom) : null,
    error: all.find((one) => one.error !== null)?.error ?? null,
    retry: () => all.forEach((one) => one.error !== null && void one.refetch()),
  };
}
