/** A chart as a file: its picture, or the exact values behind it. */
import type { QueryClient } from "@tanstack/react-query";

import { metricsQuery } from "@/api/runs";
import type { Run, Series } from "@/api/types";
import { AXIS_COLUMNS } from "@/charts/axes";
import { lightColours } from "@/charts/colours";
import type { Picture } from "@/charts/export/svg";
import type { Zoom } from "@/charts/live-curves";
import { plotted, type Drawn } from "@/components/chart/columns";
import { floorOf } from "@/components/chart/floor-of";
import { unitOf } from "@/components/metrics/explained";
import type { View } from "@/features/run/view";
import type { Cell } from "@/lib/files/csv";
import { saveCsv } from "@/lib/files/download";
import { partsOfRun } from "@/lib/files/file-name";

export type Named = Pick<Run, "id" | "name">;

export interface Chart {
  readonly run: Named & Partial<Pick<Run, "config">>;
  readonly drawn: Drawn;
  readonly view: View;
  readonly range: Zoom;
  readonly colour: string;
}

/** Of a file of this chart. */
export const nameOf = ({ run, drawn }: Chart): readonly string[] => [
  ...partsOfRun(run),
  drawn.explained.name,
];

export function pictureOf({ run, drawn, view, range, colour }: Chart): Picture {
  const { title, name } = drawn.explained;
  const unit = unitOf(drawn.explained);
  return {
    title,
    run: run.name,
    yLabel: unit === "" ? name : `${name}, ${unit}`,
    axis: view.axis,
    isLog: view.isLog,
    ...plotted(drawn, view, colour),
    floor: floorOf(drawn, view.zoom, run.config),
    range: view.zoom ?? range,
    colour: lightColours(),
  };
}

/** As many buckets as the server answers; twice as many points come one by one. */
const MOST_BUCKETS = 20_000;

/** What the file of values has. */
export function valuesTextOf({ drawn: { curve }, view: { zoom } }: Pick<Chart, "drawn" | "view">) {
  const { n } = curve.part ?? curve.ends;
  const isExact = n <= 2 * MOST_BUCKETS;
  if (zoom !== null) return `${isExact ? "exact" : "means of buckets"}, the part that is shown`;
  return isExact ? "exact, all values" : "means of buckets, all steps";
}

/** The values as they are stored, of the part that is shown. */
export async function saveValues(client: QueryClient, chart: Chart): Promise<void> {
  const { run, drawn, view } = chart;
  const { name } = drawn.explained;
  const ends = drawn.low === null ? [] : [`${name}_low`, `${name}_high`];
  const [from, to] = view.zoom ?? [null, null];
  const query = metricsQuery([run.id], {
    ...{ names: [name, ...ends].join(","), x: view.axis, from, to },
    ...{ points: MOST_BUCKETS, exact: true },
  });
  const { series } = await client.fetchQuery({ ...query, staleTime: 0, gcTime: 0 });
  const rows = rowsOf(name, view, series);
  saveCsv(rows, nameOf(chart));
}

/** A row for each value with its interval; of a longer curve a row for each bucket. */
export function rowsOf(name: string, { axis }: View, series: readonly Series[]): Cell[][] {
  const of = (wanted: string) => series.find((one) => one.name === wanted);
  const curve = of(name);
  if (curve === undefined) return [[AXIS_COLUMNS[axis], name]];
  const { x, y } = curve;
  if (curve.n > x.length) {
    const heads = ["mean", "min", "max", "last"].map((one) => `${name} ${one}`);
    const columns = [y.mean, y.min, y.max, y.last, curve.n_nan];
    return [
      [`${AXIS_COLUMNS[axis]} up to`, ...heads, "values that are NaN"],
      ...x.map((at, place) => [at, ...columns.map((column) => column[place] ?? null)]),
    ];
  }
  const ends = [`${name}_low`, `${name}_high`].filter((one) => of(one) !== undefined);
  const known = ends.map((one) => new Map(of(one)?.x.map((at, i) => [at, of(one)?.y.last[i]])));
  return [
    [AXIS_COLUMNS[axis], name, ...ends],
    ...x.map((at, place) => [
      at,
      y.last[place] ?? null,
      ...known.map((end) => end.get(at) ?? null),
    ]),
  ];
}
