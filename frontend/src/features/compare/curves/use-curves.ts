/** The curves of one metric of everything that is compared, closer where the reader zooms. */
import { useQuery, type QueryMeta } from "@tanstack/react-query";
import { useMemo } from "react";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery } from "@/api/seed-groups";
import type { GroupCurve, Series } from "@/api/types";
import type { Axis, Curve } from "@/charts/live-curves";
import { useView } from "@/features/compare/view";

import { groupCurve, isComplete, runCurve } from "./closer";

const POINTS = 300;

export interface ComparedCurves {
  readonly groups: readonly GroupCurve[];
  /** By run. */
  readonly runs: ReadonlyMap<string, Curve>;
}

const noSeries: readonly Series[] = [];
const noGroups: readonly GroupCurve[] = [];

/** By tokens or time, buckets are a part of the axis, however few points there are. */
const mayShowMore = (axis: Axis, series: readonly Series[] | undefined): boolean =>
  series !== undefined && (axis !== "step" || !isComplete(series));

/** `curves`: null until they are here. Until a closer look has come, the one before stays. */
export function useCurves(name: string, refetchInterval: number | false) {
  const { runIds, axis, zoom } = useView();
  const [from, to] = zoom ?? [null, null];
  const whole = { x: axis, points: POINTS };
  const groups = useQuery({ ...groupCurvesQuery(runIds, name, whole), refetchInterval });
  const runs = useQuery({ ...metricsQuery(runIds, { names: name, ...whole }), refetchInterval });
  const isClose = zoom !== null && mayShowMore(axis, runs.data?.series);
  const part = { ...whole, from, to };
  const askedOf = [runIds.join(), name, axis].join(" ");
  const closer = {
    refetchInterval,
    enabled: isClose,
    meta: { askedOf },
    placeholderData: <Data>(before: Data | undefined, asked?: { meta: QueryMeta | undefined }) =>
      asked?.meta?.["askedOf"] === askedOf ? before : undefined,
  };
  const closeGroups = useQuery({ ...groupCurvesQuery(runIds, name, part), ...closer });
  const closeRuns = useQuery({ ...metricsQuery(runIds, { names: name, ...part }), ...closer });
  const all = [groups, runs, closeGroups, closeRuns];

  const [items, series] = [groups.data?.items, runs.data?.series];
  const closeItems = (isClose ? closeGroups.data?.items : undefined) ?? noGroups;
  const closeSeries = (isClose ? closeRuns.data?.series : undefined) ?? noSeries;
  const curves = useMemo((): ComparedCurves | null => {
    if (items === undefined || series === undefined) return null;
    const groupParts = new Map(closeItems.map((one) => [one.group, one]));
    const runParts = new Map(closeSeries.map((one) => [one.run, one]));
    return {
      groups: items.map((one) => groupCurve(one, groupParts.get(one.group))),
      runs: new Map(series.map((one) => [one.run, runCurve(one, runParts.get(one.run))])),
    };
  }, [items, series, closeItems, closeSeries]);
  const failed = all.filter((one) => one.error !== null);
  return {
    curves,
    error: failed[0]?.error ?? null,
    isAskedAgain: failed.some((one) => one.isFetching),
    retry: () => failed.forEach((one) => void one.refetch()),
  };
}
