/** A run as paths of reward against KL, and what to say of them; pure. */
import type { Run } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { paired } from "@/charts/reward-vs-kl/reward-vs-kl";
import { columnOf, firstPaired, type Path } from "@/charts/reward-vs-kl/path";
import { goldOf, goldTitle } from "@/components/metrics/gold";
import { trainingReward } from "@/components/metrics/training-reward";
import { plural } from "@/lib/format";

type Curves = ReadonlyMap<string, Curve>;
type Named = Pick<Path, "id" | "label" | "colour" | "isEvaluated">;

const TRAINING: Named = { id: "training", label: "training", colour: "--s1", isEvaluated: false };
const HELD_OUT: Named = { id: "held-out", label: "held-out", colour: "--s2", isEvaluated: true };
const GOLD: Named = { id: "gold", label: "gold", colour: "--s4", isEvaluated: true };

/** By the first of these KLs that was measured at steps of the reward, or without points. */
function pathOf(named: Named, curves: Curves, reward: string, costs: readonly string[]): Path {
  const of = (name: string) => columnOf(curves.get(name), named.isEvaluated);
  const ends = [of(`${reward}_low`), of(`${reward}_high`)] as const;
  const first = firstPaired(costs, (cost) => paired(of(cost), of(reward), ends));
  return { ...named, points: first?.points ?? [] };
}

/** All metrics that paths are made of, as far as the run has them. */
export function namesOf(run: Pick<Run, "config">, curves: Curves): readonly string[] {
  const rewards = [trainingReward([run]), "eval/reward", ...goldOf(curves.keys())];
  const ends = rewards.flatMap((name) => [name, `${name}_low`, `${name}_high`]);
  return [...ends, "kl/response", "kl/exact"].filter((name) => curves.has(name));
}

/** The policy on prompts that it trains on, on held-out ones, and as gold judges it. */
export function pathsOf(run: Pick<Run, "config">, curves: Curves): readonly Path[] {
  const paths = [
    pathOf(TRAINING, curves, trainingReward([run]), ["kl/response"]),
    pathOf(HELD_OUT, curves, "eval/reward", ["kl/exact"]),
  ];
  const golds = goldOf(curves.keys()).map((name) =>
    pathOf({ ...GOLD, label: goldTitle(name) }, curves, name, ["kl/exact", "kl/response"]),
  );
  const gold = golds.find(({ points }) => points.length > 0) ?? golds[0];
  return gold === undefined ? paths : [...paths, gold];
}

/** What the marks are; of a long run a dot is a mean. */
export function captionOf(paths: readonly Path[]): string {
  const of = (id: string) => paths.find((path) => path.id === id);
  const n = Math.max(1, ...(of(TRAINING.id)?.points ?? []).map((point) => point.n ?? 1));
  const dot = n === 1 ? "a training step" : `the mean of up to ${plural(n, "training step")}`;
  const gold = of(GOLD.id);
  const rings =
    gold === undefined
      ? "Rings are held-out evaluations."
      : gold.points.length > 0
        ? `Rings are evaluations: held-out, and ${gold.label} as it was attached, in its own unit.`
        : `Rings are held-out evaluations; ${gold.label} has none, because no KL was measured at its steps.`;
  return `Each dot is ${dot}; later ones are darker. ${rings} Click a point to read the samples of its step.`;
}
