/** Where the samples of a step of a run are read. Pure. */
export type SampleKind = "rollout" | "probe";

/** What a point on a chart stands for: an evaluation answers held-out prompts. */
export const kindAt = (isEvaluation: boolean): SampleKind => (isEvaluation ? "probe" : "rollout");

/**
 * `base`: the address of the run's page. `prompt`: only its responses. Where the step has no such
 * samples, the nearest are read.
 */
export function samplesAt(base: string, step: number, kind: SampleKind, prompt?: string): string {
  const ofKind = kind === "probe" ? "kind=probe&" : "";
  const ofPrompt = prompt === undefined ? "" : `&prompt=${encodeURIComponent(prompt)}`;
  return `${base}/samples?${ofKind}step=${step}${ofPrompt}`;
}
