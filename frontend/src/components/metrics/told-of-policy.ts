/** What else than its reward tells how good a policy is, and is measured where its KL is. Pure. */
import type { Run } from "@/api/types";

import { termNames } from "./reward-terms";

/** A metric; `isEvaluated`: measured on purpose, not at every training step. */
export interface Told {
  readonly name: string;
  readonly title: string;
  readonly isEvaluated: boolean;
}

const OF_A_SET = /^eval\/([a-z][a-z0-9_-]*)\/(pass@1|reward)$/;

/** pass@1 of held-out prompts, then of each set pass@1 and reward. */
function evaluated(known: ReadonlySet<string>): readonly Told[] {
  const heldOut = known.has("eval/pass@1")
    ? [{ name: "eval/pass@1", title: "Held-out pass@1", isEvaluated: true }]
    : [];
  const ofSets = [...known].sort().flatMap((name) => {
    const [, set, measure] = OF_A_SET.exec(name) ?? [];
    if (set === undefined || measure === undefined) return [];
    return [{ name, title: `${set}: ${measure}`, isEvaluated: true }];
  });
  return [...heldOut, ...ofSets];
}

/** The terms of a reward of several, such as one of weight 0 that only watches: each step has them. */
function terms(runs: readonly Pick<Run, "config">[], known: ReadonlySet<string>): readonly Told[] {
  const several = runs.map(({ config }) => termNames(config)).filter(({ length }) => length > 1);
  return [...new Set(several.flat())]
    .map((term) => ({ name: `reward/${term}`, title: `Reward term ${term}`, isEvaluated: false }))
    .filter(({ name }) => known.has(name));
}

/** Evaluations first. */
export const toldOf = (
  runs: readonly Pick<Run, "config">[],
  names: Iterable<string>,
): readonly Told[] => {
  const known = new Set(names);
  return [...evaluated(known), ...terms(runs, known)];
};
