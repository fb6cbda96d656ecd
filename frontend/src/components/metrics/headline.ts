/** The one metric that stands for a run in a list; pure. */
import type { Method, Metric, Run } from "@/api/types";
import { noiseSpan } from "@/charts/floor";
import type { Curve } from "@/charts/live-curves";
import { MODEL_KIND_NAMES } from "@/components/text/names";
import { bytes, lowerFirst, plural } from "@/lib/format";

import { goldOf, goldTitle } from "./gold";

type Column = readonly (number | null)[];

/** By method, what the service says of the metrics that can stand for its runs, best first. */
export type Headlines = ReadonlyMap<string, readonly Metric[]>;

export const headlinesOf = (
  methods: readonly Pick<Method, "method" | "headlines" | "metrics">[],
): Headlines =>
  new Map(
    methods.map(({ method, headlines, metrics }) => [
      method,
      headlines.flatMap((name) => metrics.filter((metric) => metric.name === name)),
    ]),
  );

/** A run may have hundreds; the verdict is by the first with a course. */
const MOST_GOLD = 4;
/** One value has no course; a verdict, too, is by an evaluation that has at least two. */
const FEWEST_OF_COURSE = 2;

interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Headline {
  readonly name: string;
  readonly title: string;
  readonly values: Column;
  /** The last step that they reach; null = there is no curve yet. */
  readonly end: number | null;
  /** The 95 % interval of the newest value; null = it has none. */
  readonly interval: Interval | null;
}

/** That what could stand for a run is not known, because the service did not say it. */
export const FAILED = "failed";
export type Standing = Headline | typeof FAILED;

type Told = Pick<Run, "method" | "summary">;

const attached = ({ summary }: Told): string[] => goldOf(Object.keys(summary)).slice(0, MOST_GOLD);

/** The metrics of its method that the run has. */
const own = ({ method, summary }: Told, headlines: Headlines): readonly Metric[] =>
  (headlines.get(method) ?? []).filter(({ name }) => name in summary);

/** Metrics that may stand for the run, best first. */
export const candidates = (run: Told, headlines: Headlines): string[] => [
  ...attached(run),
  ...own(run, headlines).map(({ name }) => name),
];

/** Evaluations that may stand for the run; the verdict also asks that gold reaches the end. */
const evaluationsOf = (run: Told, headlines: Headlines): string[] => [
  ...attached(run),
  ...own(run, headlines).flatMap((metric) => (metric.is_evaluation ? [metric.name] : [])),
];

/** The curves that tell which candidate it is, and how certain its newest value. */
export const curvesAsked = (run: Told, headlines: Headlines): string[] =>
  candidates(run, headlines).flatMap((name) => [
    name,
    ...[`${name}_low`, `${name}_high`].filter((end) => end in run.summary),
  ]);

/**
 * The first evaluation with a course, else the first evaluation, else what is trained; before any
 * curve is known, the first by name.
 */
export function headlineOf(
  run: Told,
  curves: ReadonlyMap<string, Curve>,
  headlines: Headlines,
): Headline | null {
  const evaluations = evaluationsOf(run, headlines);
  const hasCourse = (name: string) => valuesOf(curves.get(name), "last").length >= FEWEST_OF_COURSE;
  const name = evaluations.find(hasCourse) ?? candidates(run, headlines)[0];
  if (name === undefined) return null;
  const metric = own(run, headlines).find((one) => one.name === name);
  return {
    ...{ name, title: metric === undefined ? goldTitle(name) : lowerFirst(metric.title) },
    values: valuesOf(curves.get(name), evaluations.includes(name) ? "last" : "mean"),
    end: curves.get(name)?.x.at(-1) ?? null,
    interval: intervalOf(run, name, curves),
  };
}

/** The values of a curve: of evaluations what was measured, of training the mean of each bucket. */
const valuesOf = (curve: Curve | undefined, column: "last" | "mean"): Column =>
  (curve?.[column] ?? []).filter((value) => value !== null);

/** Of the newest value: an interval of an earlier one would be none of it. */
function intervalOf(
  { summary }: Pick<Run, "summary">,
  name: string,
  curves: ReadonlyMap<string, Curve>,
): Interval | null {
  const [low, high] = [summary[`${name}_low`] ?? null, summary[`${name}_high`] ?? null];
  const [end, ofInterval] = [name, `${name}_low`].map((one) => curves.get(one)?.x.at(-1));
  return low === null || high === null || end !== ofInterval ? null : { low, high };
}

/** From where to where a trend is drawn: so much that noise stays small. */
export function trendRange({ values, interval }: Headline): readonly [number, number] {
  const uncertain = interval === null ? noiseSpan(values) : 2 * (interval.high - interval.low);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const more = Math.max(0, uncertain - (high - low)) / 2;
  return [low - more, high + more];
}

/** What a run without such a metric has made, such as "160 responses"; null = nothing yet. */
export function madeBy(run: Pick<Run, "result" | "summary" | "output_bytes">): string | null {
  const responses = run.summary["responses"] ?? null;
  if (run.result === "responses" && responses !== null) return plural(responses, "response");
  if (run.output_bytes === 0) return null;
  const size = bytes(run.output_bytes);
  return run.result in MODEL_KIND_NAMES ? `model, ${size}` : size;
}
