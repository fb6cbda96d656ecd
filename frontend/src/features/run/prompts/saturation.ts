/** When a training prompt is learned for good, and in which order prompts are. Pure. */
import type { PromptCurve } from "@/api/types";
import type { Cell } from "@/lib/files/csv";
import { number, percent, plural } from "@/lib/format";

export type Measure = "passed" | "score";

/** From such a share of the responses on a prompt teaches next to nothing. */
export const SATURATED = 0.9;
/** Once may be luck. */
const FEWEST_COLUMNS = 2;

export interface Learned {
  readonly prompt: PromptCurve;
  readonly values: readonly (number | null)[];
  /** The step from which on it stays saturated; null = it is not. */
  readonly saturatedAt: number | null;
  readonly last: number | null;
}

/** What is shown of these prompts unless somebody chooses: what passed, where anything judges it. */
export const firstMeasure = (prompts: readonly PromptCurve[]): Measure =>
  prompts.some((prompt) => prompt.passed.some((one) => one !== null)) ? "passed" : "score";

/** The value that counts as saturated: of scores so far between the least and the greatest of all. */
export function barOf(prompts: readonly PromptCurve[], measure: Measure): number {
  if (measure === "passed") return SATURATED;
  const values = prompts.flatMap((prompt) => prompt.score.filter((one) => one !== null));
  const low = Math.min(...values);
  const high = Math.max(...values);
  return values.length === 0 ? Infinity : low + SATURATED * (high - low);
}

/** The first step of the last stretch at or above the bar, if that is more than one column. */
export function saturatedAt(
  x: readonly number[],
  values: readonly (number | null)[],
  bar: number,
): number | null {
  const known = x.flatMap((step, place) => {
    const value = values[place] ?? null;
    return value === null ? [] : [{ step, value }];
  });
  const below = known.findLastIndex(({ value }) => value < bar);
  const stretch = known.slice(below + 1);
  return stretch.length < FEWEST_COLUMNS ? null : (stretch[0]?.step ?? null);
}

/** What saturated means; `width`: how many steps a column pools, so that no single one is known. */
export function ruleOf(measure: Measure, width: number): string {
  const what =
    measure === "passed"
      ? `at least ${percent(SATURATED)} of the prompt's responses passed`
      : "the prompt's mean score was in the top tenth of the range of the scores shown here";
  const when =
    width > 1
      ? "in each column in which it was sampled, and there were at least two of these"
      : "each time it was sampled, and it was sampled at least twice";
  return `Saturated: from some step on, ${what} ${when}.`;
}

/** Whether it was sampled often enough to be saturated. */
export const isRepeated = ({ values }: Pick<Learned, "values">): boolean =>
  values.filter((one) => one !== null).length >= FEWEST_COLUMNS;

/** How many of these prompts are saturated, of those that could be; `width`: as of `ruleOf`. */
export function saturatedText(rows: readonly Learned[], width: number): string {
  const n = rows.filter(isRepeated).length;
  const saturated = rows.filter((one) => one.saturatedAt !== null).length;
  const twice = width > 1 ? "in two columns" : "twice";
  if (n === 0) return `No prompt was sampled ${twice}, so none can be saturated`;
  const which = n === rows.length ? "" : ` that were sampled ${twice} or more`;
  return `${number(saturated)} of ${plural(n, "prompt")}${which} saturated`;
}

/** Those that saturate first come first, then the best of the others. */
export function learned(prompts: readonly PromptCurve[], measure: Measure): readonly Learned[] {
  const bar = barOf(prompts, measure);
  return prompts
    .map((prompt): Learned => {
      const values = prompt[measure];
      return {
        prompt,
        values,
        saturatedAt: saturatedAt(prompt.x, values, bar),
        last: values.findLast((one) => one !== null) ?? null,
      };
    })
    .sort(
      (a, b) =>
        (a.saturatedAt ?? Infinity) - (b.saturatedAt ?? Infinity) ||
        (b.last ?? -Infinity) - (a.last ?? -Infinity) ||
        0,
    );
}

export const HEADS = ["prompt_id", "prompt", "step", "score", "passed", "responses"] as const;

/** A line for each prompt and column; a value that is not known is empty. */
export const csvRows = (prompts: readonly PromptCurve[]): readonly (readonly Cell[])[] => [
  HEADS,
  ...prompts.flatMap((prompt) =>
    prompt.x.map((step, place) => [
      prompt.prompt_id,
      prompt.text ?? "",
      step,
      prompt.score[place] ?? "",
      prompt.passed[place] ?? "",
      prompt.responses[place] ?? 0,
    ]),
  ),
];
