/** What a run has measured on its sets, as rows and bars. Pure. */
import type { MeasuredSet, Run, RunSets, SetMeasure } from "@/api/types";
import { COLOURS } from "@/charts/colours";
import type { Bar, BarSeries } from "@/charts/bars/places";
import type { Cell } from "@/lib/files/csv";

export const measureOf = (
  measures: readonly SetMeasure[],
  measure: string,
): SetMeasure | undefined => measures.find((one) => one.measure === measure);

/** All metrics that the table and the bars show. */
export function shownMetrics(sets: readonly MeasuredSet[]): ReadonlySet<string> {
  return new Set(
    sets.flatMap((set) => [
      ...set.measures.map((one) => one.metric),
      ...set.breakdowns.flatMap((one) =>
        one.parts.flatMap((part) => part.measures.map(({ metric }) => metric)),
      ),
    ]),
  );
}

/** Keys by which any of the sets is broken down. */
export const keysOf = ({ sets }: RunSets): readonly string[] => [
  ...new Set(
    sets.flatMap((set) =>
      set.breakdowns.filter((one) => one.parts.length > 0).map((one) => one.key),
    ),
  ),
];

/** Whether a run's own prompts, as a whole, are all that it has measured: its charts say as much. */
export const isPlain = ({ method }: Pick<Run, "method">, found: RunSets): boolean =>
  method !== "evaluate" && found.sets.every((set) => set.name === "") && keysOf(found).length === 0;

/** Measures that the parts of any set have, in the order of the table. */
export function brokenDown({ measures, sets }: RunSets, key: string): readonly string[] {
  const found = new Set(
    sets.flatMap((set) =>
      partsOf(set, key).flatMap((part) => part.measures.map(({ measure }) => measure)),
    ),
  );
  return measures.map(({ measure }) => measure).filter((one) => found.has(one));
}

const partsOf = (set: MeasuredSet, key: string) =>
  set.breakdowns.find((one) => one.key === key)?.parts ?? [];

/** A bar for each set at each value of the key. */
export function barsOf(
  { sets }: RunSets,
  key: string,
  measure: string,
): { readonly levels: readonly string[]; readonly series: readonly BarSeries[] } {
  const having = sets.filter((set) => partsOf(set, key).length > 0);
  const levels = [
    ...new Set(having.flatMap((set) => partsOf(set, key).map(({ value }) => value))),
  ].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const series = having.map((set, place) => ({
    name: set.label,
    colour: COLOURS[place % COLOURS.length] ?? COLOURS[0],
    isHollow: place >= COLOURS.length,
    bars: levels.map((level): Bar | null => {
      const part = partsOf(set, key).find(({ value }) => value === level);
      const found = part && measureOf(part.measures, measure);
      return found === undefined
        ? null
        : {
            value: found.value,
            low: found.interval?.low ?? null,
            high: found.interval?.high ?? null,
          };
    }),
  }));
  return { levels, series };
}

/** A line for each set and value of the key that was measured. */
export const csvRows = (
  levels: readonly string[],
  series: readonly BarSeries[],
  key: string,
): readonly (readonly Cell[])[] => [
  ["set", key, "value", "low", "high"],
  ...series.flatMap(({ name, bars }) =>
    bars.flatMap((bar, place) =>
      bar === null ? [] : [[name, levels[place] ?? "", bar.value, bar.low ?? "", bar.high ?? ""]],
    ),
  ),
];
