/** What the rule of an alert is called on screen; pure. */

/** Titles of rules whose names, which are identifiers, do not read as one. */
const TITLES: Readonly<Record<string, string>> = {
  best_checkpoint: "Output",
  set_chose_the_output: "Held-out prompts in an evaluation set",
  set_was_trained_on: "Training prompts in an evaluation set",
  answers_not_kept: "Answers left on the worker",
  event_line: "Invalid event line",
  idle_gpus: "Idle GPUs",
  k1_in_loss: "k1 in the loss",
  kl_coef: "KL coefficient is 0",
  kl_max: "KL limit exceeded",
  kl_max_unevaluated: "KL limit with too few evaluations",
  measured_anew: "Evaluated again",
  metric_count: "Too many metrics",
  metric_name: "Invalid metric name",
  no_heldout: "No held-out prompts",
  no_reference: "Prompts without a ground truth",
  non_finite_metric: "Metrics that are not finite",
  other_prompt: "Prompt written differently when sampled",
  other_text: "Token ids that differ from the text",
  other_tokenizer: "Sampled with another tokenizer",
  packing: "Records are padded, not packed",
  pinned_checkpoint: "Pinned checkpoint is gone",
  resumed_elsewhere: "Resumed in another environment",
  slow_pattern: "Slow reward pattern",
  statistics_anew: "Reward statistics start again",
  top_p: "top_p below 1",
  unscored: "Responses without a reward",
  unused_weights: "Weights that the model does not use",
  vllm: "vLLM",
};

/** The title of a rule: kl_blowup reads as "KL blowup". */
export function titleOf(rule: string): string {
  const title = TITLES[rule];
  if (title !== undefined) return title;
  const spaced = rule.replaceAll("_", " ").replace(/\bkl\b/g, "KL");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
