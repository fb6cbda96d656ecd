/** Which of a run's answers are shown: by set, by model and by whether they passed. Pure. */
import type { AskedAnswers } from "@/api/runs";
import type { Run } from "@/api/types";

/** What is chosen where nothing is. */
export const ALL = "";

/** The prompts of the run itself; no set is named so: names begin with a letter or a digit. */
export const OWN = "~own";

export type Choices = readonly (readonly [string, string])[];

export const PASSED: Choices = [
  [ALL, "All"],
  ["true", "Passed"],
  ["false", "Not passed"],
];

export const MODELS: Choices = [
  [ALL, "Both"],
  ["model", "Model"],
  ["baseline", "Baseline"],
];

/** The sets of an evaluation; none where there is but the run's own. */
export function setsOf({ config }: Pick<Run, "config">): Choices {
  const sets: unknown = config["evaluation_sets"];
  if (!Array.isArray(sets) || sets.length === 0) return [];
  const names = (sets as readonly { name?: unknown }[]).map(({ name }) => String(name));
  return [
    [ALL, "All sets"],
    [OWN, "The run's own prompts"],
    ...names.map((one) => [one, one] as const),
  ];
}

export const hasBaseline = ({ config }: Pick<Run, "config">): boolean =>
  config["baseline_model"] != null;

export function askedIn(search: URLSearchParams): AskedAnswers {
  const [set, model, passed] = [search.get("of"), search.get("who"), search.get("passed")];
  return {
    set_name: set === OWN ? "" : set || null,
    model: MODELS.some(([one]) => one !== ALL && one === model) ? model : null,
    passed: passed === "true" ? true : passed === "false" ? false : null,
  };
}
