/** The one metric that stands for a run in a list; pure. */
import type { Run } from "@/api/types";
import { bytes, plural } from "@/lib/format";

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

/** Held-out metrics lead: what a run is trained on rises also where it gets worse. */
const HELD_OUT = ["eval/win_rate", "eval/reward", "eval/accuracy", "eval/loss"];
const TRAINING = ["reward/mean", "accuracy", "dpo/accuracy", "loss"];

/** One evaluation says nothing of the course. */
const FEWEST_EVALUATIONS = 2;

export interface Headline {
  readonly name: string;
  readonly title: string;
  readonly values: Column;
  /** How wide the 95 % interval of the newest value is; 0 = it has none. */
  readonly uncertainty: number;
}

/** Metrics that may stand for the run, best first. A policy's loss says nothing: it is near 0. */
export function candidates({ method, summary }: Pick<Run, "method" | "summary">): string[] {
  const said = (name: string) => name in summary;
  const training = TRAINING.filter((name) => name !== "loss" || method !== "policy_gradient");
  return [...HELD_OUT, ...training].filter(said);
}

/** The best candidate by what its curve has; before any curve is known, the best by name. */
export function headlineOf(
  run: Pick<Run, "method" | "summary">,
  curves: ReadonlyMap<string, Column>,
): Headline | null {
  const names = candidates(run);
  const hasCourse = (name: string) =>
    (curves.get(name) ?? []).filter((value) => value !== null).length >= FEWEST_EVALUATIONS;
  const training = names.find((name) => TRAINING.includes(name));
  const isKnown = curves.size > 0;
  const heldOut = names.find((name) => HELD_OUT.includes(name) && (!isKnown || hasCourse(name)));
  const name = heldOut ?? training ?? names[0];
  if (name === undefined) return null;
  const values = curves.get(name) ?? [];
  return { name, title: titleOf(run, name), values, uncertainty: uncertaintyOf(run, name) };
}

function uncertaintyOf({ summary }: Pick<Run, "summary">, name: string): number {
  const [low, high] = [summary[`${name}_low`] ?? null, summary[`${name}_high`] ?? null];
  return low === null || high === null ? 0 : high - low;
}

/** From where to where a trend is drawn: twice as much as is uncertain, so that noise stays small. */
export function trendRange({ values, uncertainty }: Headline): readonly [number, number] {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const more = Math.max(0, 2 * uncertainty - (high - low)) / 2;
  return [low - more, high + more];
}

/** An evaluate run has no other reward than that which it measures. */
function titleOf({ method }: Pick<Run, "method">, name: string): string {
  const title = NAMES[name] ?? name;
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
