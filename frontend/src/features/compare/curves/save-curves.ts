/** Compared curves as a file: their picture, or the values of groups and runs. */
import type { QueryClient } from "@tanstack/react-query";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery, type GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroups, Series } from "@/api/types";
import { AXIS_COLUMNS } from "@/charts/axes";
import { lightColours } from "@/charts/colours";
import type { Picture } from "@/charts/export/svg";
import type { Axis } from "@/charts/live-curves";
import { unitOf } from "@/components/metrics/explained";
import { estimateText } from "@/components/seed-groups/estimate";
import { colourOf, isDashed, letterOf } from "@/components/seed-groups/group-names";
import { partsOfComparison } from "@/features/compare/whose";
import type { Cell } from "@/lib/files/csv";
import { saveCsv } from "@/lib/files/download";
import { plural } from "@/lib/format";

import type { Chart } from "./chart";
import { drawn, hasMean } from "./columns";
import { floorOfAll } from "./floor";
import { fullSize, shownAs } from "./reading";

type NamedBy = Pick<Chart, "explained" | "answer" | "runs">;

/** Of a file of this chart. */
export function nameOf({ explained, answer: { groups }, runs }: NamedBy): readonly string[] {
  return [...partsOfComparison(groups, runs), explained.name];
}

/** What fits into the width of a picture. */
const MOST_LETTERS = 110;

/** "A: GRPO, mean of 3 seeds". */
function legendOf({ answer, groups }: Chart): NonNullable<Picture["legend"]> {
  return answer.groups.map(({ name, runs }, place) => {
    const curve = groups.find(({ group }) => group === place);
    const said =
      curve !== undefined && hasMean(curve)
        ? estimateText(curve.is_iqm, fullSize(curve))
        : plural(runs.length, "run");
    const whole = `${letterOf(place)}: ${name === "" ? "" : `${name}, `}${said}`;
    const label = whole.length > MOST_LETTERS ? `${whole.slice(0, MOST_LETTERS - 1)}…` : whole;
    return { label, colour: colourOf(place), isDashed: isDashed(place) };
  });
}

export function pictureOf(chart: Chart): Picture {
  const { explained, groups, shown, axis, zoom, look } = chart;
  const unit = unitOf(explained);
  const smoothed = look.smoothing > 0 ? ` (strong lines smoothed, ${look.smoothing})` : "";
  return {
    title: explained.title,
    run: shownAs(groups, shown, axis),
    yLabel: `${unit === "" ? explained.name : `${explained.name}, ${unit}`}${smoothed}`,
    axis,
    isLog: look.isLog,
    ...drawn(groups, shown, colourOf, axis, look),
    range: zoom,
    floor: floorOfAll(chart),
    legend: legendOf(chart),
    colour: lightColours(),
  };
}

/** So many that a hundred runs fit into one answer. */
const MOST_BUCKETS = 700;

/** The part that is shown, finer than it is drawn. */
export async function saveValues(client: QueryClient, chart: Chart): Promise<void> {
  const { explained, answer, runs, axis, zoom } = chart;
  const runIds = answer.groups.flatMap((group) => group.runs);
  const [from, to] = zoom ?? [null, null];
  const part = { x: axis, from, to, points: MOST_BUCKETS };
  const now = { staleTime: 0, gcTime: 0 };
  const [groups, series] = await Promise.all([
    client.fetchQuery({
      ...groupCurvesQuery(runIds, explained.name, { ...part, exact: true }),
      ...now,
    }),
    client.fetchQuery({
      ...metricsQuery(runIds, { ...part, names: explained.name, exact: true }),
      ...now,
    }),
  ]);
  const rows = rowsOf(answer, runs, axis, groups, series.series);
  saveCsv(rows, nameOf(chart));
}

/** Groups first, bucket by bucket; then each run, value by value or bucket by bucket. */
export function rowsOf(
  { groups }: SeedGroups,
  runs: ReadonlyMap<string, Run>,
  axis: Axis,
  curves: readonly GroupCurve[],
  series: readonly Series[],
): Cell[][] {
  const letters = new Map(
    groups.flatMap((group, place) => group.runs.map((run) => [run, letterOf(place)] as const)),
  );
  // By tokens or time, groups always have buckets.
  const isBucketed = axis !== "step" || series.some(({ n, x }) => n > x.length);
  const place = isBucketed ? `${AXIS_COLUMNS[axis]} up to` : AXIS_COLUMNS[axis];
  return [
    ["group", "run", "name", place, "value", "low", "high", "seeds", "values", "NaN"],
    ...curves.flatMap((curve) => groupRows(letterOf(curve.group), curve)),
    ...series.flatMap((one) =>
      runRows(letters.get(one.run) ?? "", runs.get(one.run)?.name ?? "", one),
    ),
  ];
}

const groupRows = (letter: string, curve: GroupCurve): Cell[][] =>
  curve.x.map((at, i) => {
    const of = (column: readonly (number | null)[]) => column[i] ?? "";
    const { value, low, high, n, n_nan: nNan } = curve;
    return [letter, "", "", at, of(value), of(low), of(high), of(n), "", of(nNan)];
  });

const runRows = (letter: string, name: string, { run, x, y, n_points, n_nan }: Series): Cell[][] =>
  x.map((at, i) => {
    const mean = y.mean[i] ?? null;
    const value = mean === null ? null : y.low + y.unit * mean;
    const nNan = n_nan[i] ?? 0;
    return [letter, run, name, at, value, "", "", "", (n_points[i] ?? 0) - nNan, nNan];
  });
