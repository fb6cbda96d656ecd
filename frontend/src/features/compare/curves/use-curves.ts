/** The curves of one metric of everything that is compared, closer where the reader zooms. */
import { useQuery, type QueryMeta } from "@tanstack/react-query";
import { useMemo } from "react";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery, type GroupCurve } from "@/api/seed-groups";
import type { Series } from "@/api/types";
import type { Axis } from "@/charts/live-curves";
import type { Drawn } from "@/components/chart/columns";
import { endNames, type Explained } from "@/components/metrics/explained";
import { useView } from "@/features/compare/view";

import { groupCurve, isComplete, runCurve } from "./closer";

/** Of a run: as on its own page, so a part with up to twice as many values shows each of them. */
const POINTS = 1000;
/** Of a group: the service reads four times as many of each of its runs. */
const GROUP_POINTS = 300;

export interface ComparedCurves {
  readonly groups: readonly GroupCurve[];
  /** By run. */
  readonly runs: ReadonlyMap<string, Drawn>;
}

const noSeries: readonly Series[] = [];
const noGroups: readonly GroupCurve[] = [];

/** By tokens or time, buckets are a part of the axis, however few points there are. */
const mayShowMore = (axis: Axis, series: readonly Series[] | undefined): boolean =>
  series !== undefined && (axis !== "step" || !isComplete(series));

/**
 * `ends`: the names of the ends of intervals that are wanted, too. `curves`: null until they are
 * here. Until a closer look has come, the one before stays.
 */
export function useCurves(
  explained: Explained,
  ends: readonly string[],
  refetchInterval: number | false,
) {
  const { name } = explained;
  const { runIds, axis, zoom } = useView();
  const [from, to] = zoom ?? [null, null];
  const names = [name, ...ends].join(",");
  const ofGroups = { x: axis, points: GROUP_POINTS };
  const ofRuns = { names, x: axis, points: POINTS };
  const groups = useQuery({ ...groupCurvesQuery(runIds, name, ofGroups), refetchInterval });
  const runs = useQuery({ ...metricsQuery(runIds, ofRuns), refetchInterval });
  const isClose = zoom !== null && mayShowMore(axis, runs.data?.series);
  const part = { from, to };
  const askedOf = [runIds.join(), name, axis].join(" ");
  const closer = {
    refetchInterval,
    enabled: isClose,
    meta: { askedOf },
    placeholderData: <Data>(before: Data | undefined, asked?: { meta: QueryMeta | undefined }) =>
      asked?.meta?.["askedOf"] === askedOf ? before : undefined,
  };
  const closeGroups = useQuery({
    ...groupCurvesQuery(runIds, name, { ...ofGroups, ...part }),
    ...closer,
  });
  const closeRuns = useQuery({ ...metricsQuery(runIds, { ...ofRuns, ...part }), ...closer });
  const all = [groups, runs, closeGroups, closeRuns];

  const [items, series] = [groups.data, runs.data?.series];
  const closeItems = (isClose ? closeGroups.data : undefined) ?? noGroups;
  const closeSeries = (isClose ? closeRuns.data?.series : undefined) ?? noSeries;
  const curves = useMemo((): ComparedCurves | null => {
    if (items === undefined || series === undefined) return null;
    const groupParts = new Map(closeItems.map((one) => [one.group, one]));
    return {
      groups: items.map((one) => groupCurve(one, groupParts.get(one.group))),
      runs: drawnOf(explained, series, closeSeries),
    };
  }, [items, series, closeItems, closeSeries, explained]);
  const failed = all.filter((one) => one.error !== null);
  return {
    curves,
    error: failed[0]?.error ?? null,
    isAskedAgain: failed.some((one) => one.isFetching),
    retry: () => failed.forEach((one) => void one.refetch()),
  };
}

/** By run: its curve with the intervals that came with it, each closer where a part of it is. */
function drawnOf(
  explained: Explained,
  whole: readonly Series[],
  close: readonly Series[],
): ReadonlyMap<string, Drawn> {
  const key = ({ run, name }: Series) => `${run} ${name}`;
  const parts = new Map(close.map((one) => [key(one), one]));
  const curves = new Map(whole.map((one) => [key(one), runCurve(one, parts.get(key(one)))]));
  const runs = [...new Set(whole.map(({ run }) => run))];
  const noisy = explained.metric?.noise_of ?? null;
  return new Map(
    runs.flatMap((run): [string, Drawn][] => {
      const of = (name: string) => curves.get(`${run} ${name}`);
      const intervalsOf = (name: string) => {
        const [low, high] = endNames(name).map(of);
        return low === undefined || high === undefined ? null : { low, high };
      };
      const curve = of(explained.name);
      if (curve === undefined) return [];
      const own = intervalsOf(explained.name) ?? { low: null, high: null };
      const noise = noisy === null ? null : intervalsOf(noisy);
      return [[run, { explained, curve, ...own, noise }]];
    }),
  );
}
