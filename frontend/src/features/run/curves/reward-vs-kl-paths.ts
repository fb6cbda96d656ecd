/** A run as paths of reward against KL, and what to say of them; pure. */
import type { Run } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { paired } from "@/charts/reward-vs-kl/reward-vs-kl";
import { columnOf, firstPaired, type Path } from "@/charts/reward-vs-kl/path";
import { goldOf, goldTitle } from "@/components/metrics/gold";
import { toldOf } from "@/components/metrics/told-of-policy";
import { trainingReward } from "@/components/metrics/training-reward";
import { plural } from "@/lib/format";

type Curves = ReadonlyMap<string, Curve>;
type Named = Pick<Path, "id" | "label" | "colour" | "isEvaluated">;

const TRAINING: Named = { id: "training", label: "training", colour: "--s1", isEvaluated: false };
const HELD_OUT: Named = { id: "held-out", label: "held-out", colour: "--s2", isEvaluated: true };

/** What a third path is of: `gold` was attached, anything else the run has measured itself. */
interface Also {
  readonly name: string;
  readonly title: string;
  readonly isGold: boolean;
  readonly isEvaluated: boolean;
}

/** In the address, where somebody wants no third path. */
export const NOTHING = "none";

/** By the first of these KLs that was measured at steps of the reward, or without points. */
function pathOf(named: Named, curves: Curves, reward: string, costs: readonly string[]): Path {
  const of = (name: string) => columnOf(curves.get(name), named.isEvaluated);
  const ends = [of(`${reward}_low`), of(`${reward}_high`)] as const;
  const first = firstPaired(costs, (cost) => paired(of(cost), of(reward), ends));
  return { ...named, points: first?.points ?? [] };
}

const inPassing = (title: string) => title.charAt(0).toLowerCase() + title.slice(1);

/** What can be drawn beside the rewards of the run: gold first, as it decides. */
export const alsoOf = (run: Pick<Run, "config">, curves: Curves): readonly Also[] => [
  ...goldOf(curves.keys()).map((name) => ({
    ...{ name, title: goldTitle(name), isGold: true, isEvaluated: true },
  })),
  ...toldOf([run], curves.keys()).map(({ name, title, isEvaluated }) => ({
    ...{ name, title: inPassing(title), isGold: false, isEvaluated },
  })),
];

const alsoPath = ({ name, title, isGold, isEvaluated }: Also, curves: Curves): Path =>
  pathOf(
    { id: isGold ? "gold" : "also", label: title, colour: "--s4", isEvaluated },
    curves,
    name,
    isEvaluated ? ["kl/exact", "kl/response"] : ["kl/response"],
  );

/** What is asked for; without that the first gold with points, or the first without. */
function thirdOf(run: Pick<Run, "config">, curves: Curves, asked: string | null): Also | undefined {
  const also = alsoOf(run, curves);
  const one = also.find(({ name }) => name === asked);
  if (one !== undefined || asked === NOTHING) return one;
  const golds = also.filter(({ isGold }) => isGold);
  return golds.find((gold) => alsoPath(gold, curves).points.length > 0) ?? golds[0];
}

/** The name of what is drawn as a third path; NOTHING without one. */
export const shownOf = (run: Pick<Run, "config">, curves: Curves, asked: string | null): string =>
  thirdOf(run, curves, asked)?.name ?? NOTHING;

/** All metrics that these paths are made of, as far as the run has them. */
export function namesOf(
  run: Pick<Run, "config">,
  curves: Curves,
  asked: string | null,
): readonly string[] {
  const rewards = [trainingReward([run]), "eval/reward", shownOf(run, curves, asked)];
  const ends = rewards.flatMap((name) => [name, `${name}_low`, `${name}_high`]);
  return [...ends, "kl/response", "kl/exact"].filter((name) => curves.has(name));
}

/** The policy on prompts that it trains on, on held-out ones, and as one more measure tells it. */
export function pathsOf(
  run: Pick<Run, "config">,
  curves: Curves,
  asked: string | null,
): readonly Path[] {
  const third = thirdOf(run, curves, asked);
  return [
    pathOf(TRAINING, curves, trainingReward([run]), ["kl/response"]),
    pathOf(HELD_OUT, curves, "eval/reward", ["kl/exact"]),
    ...(third === undefined ? [] : [alsoPath(third, curves)]),
  ];
}

/** What the rings are, beside this third path. */
function ringsOf(third: Path | undefined): string {
  if (third === undefined) return "Rings are held-out evaluations.";
  const { id, label, points, isEvaluated } = third;
  if (points.length === 0)
    return `Rings are held-out evaluations; ${label} has none, because no KL was measured at its steps.`;
  if (!isEvaluated)
    return `Rings are held-out evaluations; ${label} has dots, too, in its own unit.`;
  const attached = id === "gold" ? " as it was attached" : "";
  return `Rings are evaluations: held-out, and ${label}${attached}, in its own unit.`;
}

/** What the marks are; of a long run a dot is a mean. */
export function captionOf(paths: readonly Path[]): string {
  const of = (id: string) => paths.find((path) => path.id === id);
  const n = Math.max(1, ...(of(TRAINING.id)?.points ?? []).map((point) => point.n ?? 1));
  const dot = n === 1 ? "a training step" : `the mean of up to ${plural(n, "training step")}`;
  const rings = ringsOf(of("gold") ?? of("also"));
  return `Each dot is ${dot}; later ones are darker. ${rings} Click a point to read the samples of its step.`;
}
