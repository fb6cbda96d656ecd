/** What the rule of an alert is called on screen; pure. */

/** Titles of rules whose names, which are identifiers, do not read as one. */
const TITLES: Readonly<Record<string, string>> = {
  answers_not_kept: "Answers left on the worker",
  event_line: "Invalid event line",
  idle_gpus: "Idle GPUs",
  k1_in_loss: "k1 in the loss",
  kl_coef: "KL coefficient is 0",
  kl_max: "KL limit exceeded",
  kl_max_unevaluated: "KL limit with too few evaluations",
  no_heldout: "No held-out prompts",
  resumed_elsewhere: "Resumed in another environment",
  top_p: "top_p below 1",
  unscored: "Responses without a reward",
  vllm: "vLLM",
};

/** The title of a rule: kl_blowup reads as "KL blowup". */
export function titleOf(rule: string): string {
  const title = TITLES[rule];
  if (title !== undefined) return title;
  const spaced = rule.replaceAll("_", " ").replace(/\bkl\b/g, "KL");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
