/** Where the samples of a step of a run are read. Pure. */
export type SampleKind = "rollout" | "probe";

/** What a point on a chart stands for: an evaluation answers held-out prompts. */
export const kindAt = (isEvaluation: boolean): SampleKind => (isEvaluation ? "probe" : "rollout");

/** `base`: the address of the run's page. Where the step has no such samples, the nearest are read. */
export const samplesAt = (base: string, step: number, kind: SampleKind): string =>
  `${base}/samples?${kind === "probe" ? "kind=probe&" : ""}step=${step}`;
