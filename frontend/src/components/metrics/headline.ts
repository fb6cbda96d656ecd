/** The one metric that stands for a run in a list; pure. */
import type { Run } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { bytes, plural } from "@/lib/format";

import { goldOf, goldTitle } from "./gold";

type Column = readonly (number | null)[];

/** What people call the metrics that can stand for a run. */
const NAMES: Readonly<Record<string, string>> = {
  "eval/win_rate": "win rate",
  "eval/reward": "held-out reward",
  "eval/accuracy": "held-out accuracy",
  "eval/loss": "held-out loss",
  "reward/mean": "training reward",
  accuracy: "training accuracy",
  "dpo/accuracy": "training accuracy",
  loss: "training loss",
};

/** Evaluations lead: what a run is trained on rises also where it gets worse. */
const HELD_OUT = ["eval/win_rate", "eval/reward", "eval/accuracy", "eval/loss"];
const TRAINING = ["reward/mean", "accuracy", "dpo/accuracy", "loss"];

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

/** Evaluations that may stand for the run; the verdict also asks that gold reaches the end. */
const evaluationsOf = ({ summary }: Pick<Run, "summary">): string[] => [
  ...goldOf(Object.keys(summary)).slice(0, MOST_GOLD),
  ...HELD_OUT.filter((name) => name in summary),
];

/** Metrics that may stand for the run, best first. A policy's loss says nothing: it is near 0. */
export function candidates(run: Pick<Run, "method" | "summary">): string[] {
  const training = TRAINING.filter((name) => name !== "loss" || run.method !== "policy_gradient");
  return [...evaluationsOf(run), ...training.filter((name) => name in run.summary)];
}

/** The curves that tell which candidate it is, and how certain its newest value. */
export const curvesAsked = (run: Pick<Run, "method" | "summary">): string[] =>
  candidates(run).flatMap((name) => [
    name,
    ...[`${name}_low`, `${name}_high`].filter((end) => end in run.summary),
  ]);

/**
 * The first evaluation with a course, else the first evaluation, else what is trained; before any
 * curve is known, the first by name.
 */
export function headlineOf(
  run: Pick<Run, "method" | "summary">,
  curves: ReadonlyMap<string, Curve>,
): Headline | null {
  const evaluations = evaluationsOf(run);
  const hasCourse = (name: string) => columnOf(curves, name).length >= FEWEST_OF_COURSE;
  const name = evaluations.find(hasCourse) ?? candidates(run)[0];
  if (name === undefined) return null;
  return {
    ...{ name, title: titleOf(run, name), values: columnOf(curves, name) },
    end: curves.get(name)?.x.at(-1) ?? null,
    interval: intervalOf(run, name, curves),
  };
}

/** The values of a curve: of evaluations what was measured, of training the mean of each bucket. */
function columnOf(curves: ReadonlyMap<string, Curve>, name: string): Column {
  const curve = curves.get(name);
  const column = TRAINING.includes(name) ? curve?.mean : curve?.last;
  return (column ?? []).filter((value) => value !== null);
}

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

/** From where to where a trend is drawn: twice as much as is uncertain, so that noise stays small. */
export function trendRange({ values, interval }: Headline): readonly [number, number] {
  const uncertainty = interval === null ? 0 : interval.high - interval.low;
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const more = Math.max(0, 2 * uncertainty - (high - low)) / 2;
  return [low - more, high + more];
}

/** An evaluate run has no other reward than that which it measures. */
function titleOf({ method }: Pick<Run, "method">, name: string): string {
  const title = NAMES[name] ?? goldTitle(name);
  return method === "evaluate" ? title.replace("held-out ", "") : title;
}

const MODELS: ReadonlySet<Run["result"]> = new Set([
  "causal_lm",
  "reward_model",
  "process_model",
] as const);

/** What a run without such a metric has made, such as "160 responses"; null = nothing yet. */
export function madeBy(run: Pick<Run, "result" | "summary" | "output_bytes">): string | null {
  const responses = run.summary["responses"] ?? null;
  if (run.result === "responses" && responses !== null) return plural(responses, "response");
  if (run.output_bytes === 0) return null;
  const size = bytes(run.output_bytes);
  return MODELS.has(run.result) ? `model, ${size}` : size;
}
