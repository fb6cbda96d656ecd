/** Runs side by side, grouped by what they are seeds of. Keys: ["seed-groups", runs, ...]. */
import { queryOptions } from "@tanstack/react-query";

import { request, type QueryValue } from "./client";
import type { AnsweredGroupCurve, GroupCurves, PackedValues, SeedGroups } from "./types";

/** What the seeds of a group say together: columns by bucket, null where they are fewer than three. */
export interface GroupCurve {
  readonly group: number;
  readonly name: string;
  readonly is_iqm: boolean;
  readonly x: readonly number[];
  readonly n: readonly number[];
  readonly n_nan: readonly number[];
  readonly value: readonly (number | null)[];
  /** The ends of its 95 % interval. */
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** Of what the service answers. */
export function groupCurveOf({ y, ...curve }: AnsweredGroupCurve): GroupCurve {
  const value = unpacked(y.value);
  const [low, high] = [endOf(y.lower, value, Math.min), endOf(y.upper, value, Math.max)];
  return { ...curve, value, low, high };
}

/** Null where it is the value; rounded by itself, it may be beyond it. */
const endOf = (
  packed: PackedValues,
  value: readonly (number | null)[],
  outer: (one: number, other: number) => number,
) =>
  unpacked(packed).map((end, place) => {
    const own = value[place] ?? null;
    return own === null || end === null ? own : outer(end, own);
  });

const unpacked = ({ low, unit, numbers }: PackedValues) =>
  numbers.map((one) => (one === null ? null : low + unit * one));

/** By `metric`, or else by evaluations on the set `evaluatedOn`; null: by what decides. */
export const seedGroupsQuery = (
  runIds: readonly string[],
  metric: string | null,
  evaluatedOn: string | null = null,
) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "answer", metric, evaluatedOn],
    queryFn: ({ signal }) =>
      request<SeedGroups>("/seed-groups", {
        signal,
        query: { runs: runIds.join(","), metric, evaluated_on: evaluatedOn },
      }),
  });

/** The curve of each group: what its seeds say together, in so many buckets of a part of an axis. */
export const groupCurvesQuery = (
  runIds: readonly string[],
  name: string,
  query: Readonly<Record<string, QueryValue>>,
) =>
  queryOptions({
    queryKey: ["seed-groups", runIds, "curves", name, query],
    queryFn: async ({ signal }) => {
      const asked = { runs: runIds.join(","), names: name, ...query };
      const { items } = await request<GroupCurves>("/seed-groups/curves", { signal, query: asked });
      return items.map(groupCurveOf);
    },
  });
