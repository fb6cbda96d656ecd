/** Groups and their runs as paths of reward against KL. Pure. */
import type { GroupCurve } from "@/api/seed-groups";
import type { SeedGroup } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { paired } from "@/charts/reward-vs-kl/reward-vs-kl";
import {
  columnOf,
  firstPaired,
  type Column,
  type Path,
  type PathPoint,
} from "@/charts/reward-vs-kl/path";
import { FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { colourOf, letterOf } from "@/components/seed-groups/group-names";
import { groupsText } from "@/features/compare/whose";

import type { Measure } from "./measures";

/** Curves by run and name, and by group and name. */
export interface Known {
  readonly runs: (run: string, name: string) => Curve | undefined;
  readonly groups: (group: number, name: string) => GroupCurve | undefined;
}

const ofGroup = (
  curve: GroupCurve | undefined,
  part: "value" | "low" | "high" = "value",
): Column | undefined => curve && { x: curve.x, values: curve[part] };

const seedsAt = (curve: GroupCurve | undefined) =>
  new Map(curve?.x.map((step, i) => [step, curve.n[i]]));

/** Keeps steps at which both have equally many seeds: where these differ, so do the seeds. */
function haveAsManySeeds(price: GroupCurve | undefined, reward: GroupCurve | undefined) {
  const [ofPrice, ofReward] = [seedsAt(price), seedsAt(reward)];
  return ({ step }: PathPoint) => ofPrice.get(step) === ofReward.get(step);
}

const groupId = (place: number) => `group ${place}`;

function groupPath(place: number, { name, costs, isEvaluated }: Measure, known: Known): Path {
  const reward = known.groups(place, name);
  const ends = [ofGroup(reward, "low"), ofGroup(reward, "high")] as const;
  const priceOf = (cost: string) => known.groups(place, cost);
  const pair = (cost: string) => paired(ofGroup(priceOf(cost)), ofGroup(reward), ends);
  // Chosen before steps are left out: a mean does not go on by another KL unsaid.
  const first = firstPaired(costs, pair);
  const points = first?.points.filter(haveAsManySeeds(priceOf(first.cost), reward)) ?? [];
  const label = letterOf(place);
  return {
    id: groupId(place),
    label,
    colour: colourOf(place),
    points,
    isEvaluated,
    isMean: true,
  };
}

function runPath(run: string, place: number, measure: Measure, known: Known): Path {
  const { name, costs, isEvaluated } = measure;
  const of = (one: string) => columnOf(known.runs(run, one), isEvaluated);
  const ends = [of(`${name}_low`), of(`${name}_high`)] as const;
  const points = firstPaired(costs, (cost) => paired(of(cost), of(name), ends))?.points ?? [];
  return { id: run, label: letterOf(place), colour: colourOf(place), points, isEvaluated };
}

/**
 * The mean of each group of three seeds or more with its interval, and its runs that are not hidden,
 * thin. Fewer runs are shown as they are, with the intervals that they recorded.
 */
export function pathsOf(
  groups: readonly SeedGroup[],
  hidden: ReadonlySet<string>,
  measure: Measure,
  known: Known,
  nameOf: (run: string) => string,
): readonly Path[] {
  const paths = groups.flatMap(({ runs, left_out: leftOut }, place): Path[] => {
    const visible = runs.filter((run) => !hidden.has(run));
    const own = visible.map((run) => {
      const path = runPath(run, place, measure, known);
      if (runs.length === 1) return path;
      return { ...path, label: `${path.label} ${nameOf(run)}`, short: path.label };
    });
    if (runs.length - leftOut.length < FEWEST_FOR_MEAN) return own;
    return [...own.map((path) => ({ ...path, isFaint: true })), groupPath(place, measure, known)];
  });
  return paths.filter(({ points }) => points.length > 0);
}

/** The groups that are drawn, in words: for the title and the name of a saved picture. */
export function whoseOf(
  groups: readonly SeedGroup[],
  paths: readonly Path[],
  nameOf: (run: string) => string,
): string {
  const drawn = new Set(paths.map(({ id }) => id));
  const isDrawn = ({ runs }: SeedGroup, place: number) =>
    [groupId(place), ...runs].some((id) => drawn.has(id));
  return groupsText(groups, nameOf, isDrawn);
}
