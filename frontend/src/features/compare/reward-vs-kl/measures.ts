/** By what reward against KL can be told: what was recorded, and what is missing. Pure. */
import type { Run } from "@/api/types";
import { goldOf } from "@/components/metrics/gold";
import { toldOf } from "@/components/metrics/told-of-policy";
import { trainingReward } from "@/components/metrics/training-reward";

/** A measure of the policy; `costs` are the KLs that it can be set against, the better first. */
export interface Measure {
  readonly name: string;
  readonly title: string;
  readonly costs: readonly string[];
  /** Whether it was measured on purpose, not at every training step. */
  readonly isEvaluated: boolean;
}

const EVALUATED = { costs: ["kl/exact", "kl/response"], isEvaluated: true } as const;

/** What everybody should have, the one that decides first. */
const WANTED: readonly Measure[] = [
  { name: "gold/reward", title: "Gold reward", ...EVALUATED },
  { name: "gold/win_rate", title: "Gold win rate", ...EVALUATED },
  { name: "eval/reward", title: "Held-out reward", ...EVALUATED },
];
const TRAINED = { costs: ["kl/response"], isEvaluated: false } as const;
const TRAINING_REWARDS: readonly string[] = ["reward/mean", "reward/raw_mean"];
const trainingOf = (runs: readonly Run[]): Measure => ({
  name: trainingReward(runs),
  title: "Training reward",
  ...TRAINED,
});

const names = (runs: readonly Run[]) => new Set(runs.flatMap((run) => Object.keys(run.summary)));

/** The measures that any of the runs has beside a KL, evaluations first, single terms last. */
export function measuresOf(runs: readonly Run[]): readonly Measure[] {
  const known = names(runs);
  const wanted = new Set(WANTED.map(({ name }) => name));
  const others = goldOf(known)
    .filter((name) => !wanted.has(name))
    .map((name) => ({ name, title: name, ...EVALUATED }));
  const told = toldOf(runs, known).map((one) => ({
    ...one,
    ...(one.isEvaluated ? EVALUATED : TRAINED),
  }));
  const evaluated = told.filter(({ isEvaluated }) => isEvaluated);
  const terms = told.filter(({ isEvaluated }) => !isEvaluated);
  return [...WANTED, ...others, ...evaluated, trainingOf(runs), ...terms].filter(
    ({ name, costs }) => known.has(name) && costs.some((cost) => known.has(cost)),
  );
}

/** The measure that is asked for, or the first; of the training reward in whichever unit it is. */
export const chosenOf = (measures: readonly Measure[], asked: string | null): Measure | undefined =>
  measures.find(({ name }) => name === asked) ??
  (asked !== null && TRAINING_REWARDS.includes(asked)
    ? measures.find(({ name }) => TRAINING_REWARDS.includes(name))
    : undefined) ??
  measures[0];

/** Whether it is measured outside the runs and attached to them. */
export const isGold = ({ name }: Measure): boolean => goldOf([name]).length > 0;

/** The evaluations that none of the runs has. */
export const missingMeasures = (runs: readonly Run[]): readonly Measure[] =>
  WANTED.filter(({ name }) => !names(runs).has(name));
