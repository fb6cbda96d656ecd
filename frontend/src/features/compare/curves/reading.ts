/** What the curves of groups say where the cursor is. Pure. */
import type { GroupCurve } from "@/api/seed-groups";
import { placeText } from "@/charts/axes";
import type { Axis } from "@/charts/live-curves";
import {
  isBucketed,
  nNanOf,
  nNotPositive,
  saidAt,
  vertexText,
  type Drawn,
  type Said,
} from "@/components/chart/columns";
import { estimateText, FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { letterOf } from "@/components/seed-groups/group-names";
import { between, number, plural } from "@/lib/format";

/** How many runs a group has where it has the most. */
export const fullSize = ({ n }: Pick<GroupCurve, "n">): number => Math.max(0, ...n);

/** A curve of a run, with its group. */
interface OfRun extends Drawn {
  readonly run: string;
  readonly group: number;
}

/**
 * What each group says at an x, in their order: its mean, "A: 0.52 [0.50, 0.54], mean of 3 seeds";
 * of fewer than three seeds the value of each run that is shown, by name where it has two.
 */
export function readingAt(
  groups: readonly GroupCurve[],
  runs: readonly OfRun[],
  nameOf: (run: string) => string,
  axis: Axis,
  x: number,
): readonly string[] {
  const means = groups.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN);
  // A bucket has the name of its greatest x, in all groups alike.
  const end = Math.min(...means.flatMap((curve) => curve.x.filter((one) => one >= x)));
  const said = new Map<number, string>();
  for (const one of means) said.set(one.group, meanAt(one, axis, x, end));
  const places = new Set([...means, ...runs].map(({ group }) => group));
  return [...places]
    .sort((a, b) => a - b)
    .flatMap((group) => {
      const text =
        said.get(group) ??
        runsAt(
          runs.filter((one) => one.group === group),
          nameOf,
          axis,
          x,
        );
      return text === "" ? [] : [`${letterOf(group)}: ${text}`];
    });
}

function meanAt(curve: GroupCurve, axis: Axis, x: number, end: number): string {
  const place = curve.x.indexOf(end);
  const n = curve.n[place];
  if (n === undefined) return "";
  const at = end === x ? "" : ` in the ${bucketText(axis, end)}`;
  const [value, low, high] = [curve.value[place], curve.low[place], curve.high[place]];
  const full = fullSize(curve);
  const nNan = curve.n_nan[place] ?? 0;
  const missing = nNan === 0 ? "" : `, ${plural(nNan, "value")} NaN`;
  const of = `${n < full ? ` (of ${full})` : ""}`;
  if (value == null) return `${plural(n, "seed")}${of}, no mean${missing}${at}`;
  const interval = low == null || high == null ? "" : ` ${between({ low, high })}`;
  return `${number(value)}${interval}, ${estimateText(curve.is_iqm, n)}${of}${missing}${at}`;
}

function runsAt(
  runs: readonly OfRun[],
  nameOf: (run: string) => string,
  axis: Axis,
  x: number,
): string {
  return runs
    .flatMap((one) => {
      const found = saidAt(one, x);
      return found === null
        ? []
        : [runAt(one, found, runs.length > 1 ? nameOf(one.run) : "", axis, x)];
    })
    .join(", ");
}

/** "0.52 [0.50, 0.54]", and whose it is; where it is no value at x itself, what it is. */
function runAt(one: OfRun, found: Said, name: string, axis: Axis, x: number): string {
  const { place, value, low, high } = found;
  const interval = low === null || high === null ? "" : ` ${between({ low, high })}`;
  const isPoint = one.curve.x[place] === x && one.curve.n[place] === 1;
  const about = [name, isPoint ? "" : vertexText(one, axis, place)].filter((text) => text !== "");
  const more = about.length === 0 ? "" : ` (${about.join(", ")})`;
  return `${value === null ? "NaN" : number(value)}${interval}${more}`;
}

const bucketText = (axis: Axis, end: number): string =>
  `bucket that ends ${axis === "relative" ? "" : "at "}${placeText(axis, end)}`;

/** What is drawn how, while no cursor says more. */
export function legendOf(
  groups: readonly GroupCurve[],
  runs: readonly OfRun[],
  axis: Axis,
  isSmoothed = false,
): string {
  const own = groups.filter(({ n }) => n.length > 0);
  const isMean = (one: GroupCurve) => fullSize(one) >= FEWEST_FOR_MEAN;
  const means = own.filter(isMean);
  const withMean = new Set(means.map(({ group }) => group));
  const small = runs.filter(({ group }) => !withMean.has(group));
  const parts: readonly (readonly [boolean, string])[] = [
    [
      means.length > 0,
      `Thick: the ${estimatorOf(means)} of the seeds with its 95 % interval, dashed where some seeds have no value; thin: single runs.`,
    ],
    [
      axis !== "step" && means.length > 0,
      "Between two of its points, a seed’s value is interpolated linearly.",
    ],
    [own.some((one) => !isMean(one)), "Fewer than three seeds have no mean: a line for each run."],
    [small.some(({ low }) => low !== null), "Bars: the 95 % intervals that runs recorded."],
    [runs.some(hasExtremes), "Hairlines: the least and greatest values of a long run."],
    [isSmoothed, "Pale: as measured, below the smoothed course."],
    [nNanIn(groups, runs) > 0, "Red wedges: values that are not finite."],
  ];
  return joined(parts, " ");
}

const hasExtremes = ({ explained, curve }: OfRun): boolean =>
  !explained.isEvaluation && isBucketed(curve);

const joined = (parts: readonly (readonly [boolean, string])[], between: string): string =>
  parts.flatMap(([isSo, text]) => (isSo ? [text] : [])).join(between);

/** How many values of means, and of the runs of groups without one, are not finite. */
export function nNanIn(groups: readonly GroupCurve[], runs: readonly OfRun[]): number {
  const means = groups.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN);
  const withMean = new Set(means.map(({ group }) => group));
  const others = runs.filter(({ group }) => !withMean.has(group));
  const counts = [...means.flatMap(({ n_nan: nNan }) => nNan), ...others.map(nNanOf)];
  return counts.reduce((sum, one) => sum + one, 0);
}

/** Places of means, and of the runs of groups without one, that a logarithmic scale cannot draw. */
export function nNotPositiveIn(groups: readonly GroupCurve[], runs: readonly OfRun[]): number {
  const means = groups.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN);
  const withMean = new Set(means.map(({ group }) => group));
  const others = runs.filter(({ group }) => !withMean.has(group));
  const ofMean = ({ x, value, low, high }: GroupCurve) =>
    x.filter((_, i) => [value, low, high].some((column) => (column[i] ?? Infinity) <= 0)).length;
  return [...means.map(ofMean), ...others.map(nNotPositive)].reduce((sum, one) => sum + one, 0);
}

/** The same in a line, for a picture: only what is drawn. */
export function shownAs(
  groups: readonly GroupCurve[],
  shown: readonly { readonly group: number }[],
  axis: Axis,
): string {
  const withMean = groups.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN);
  if (withMean.length === 0) return "A line for each run";
  const beside = new Set(withMean.map(({ group }) => group));
  const isSmall = shown.some(({ group }) => !beside.has(group));
  const parts: readonly (readonly [boolean, string])[] = [
    [true, `Thick: ${estimatorOf(withMean)}${isSmall ? ", or run of a small group" : ""}`],
    [withMean.some(({ low }) => low.some((one) => one !== null)), "band: 95 % interval"],
    [shown.some(({ group }) => beside.has(group)), "thin: runs"],
    [withMean.some(isPartial), "rings: fewer seeds"],
    [axis !== "step", "interpolated"],
  ];
  return joined(parts, "; ");
}

function estimatorOf(groups: readonly GroupCurve[]): string {
  const iqms = groups.filter(({ is_iqm }) => is_iqm).length;
  return iqms === 0 ? "mean" : iqms === groups.length ? "IQM" : "mean or IQM";
}

/** Whether some of a mean is of fewer seeds than its group has elsewhere. */
const isPartial = (curve: GroupCurve): boolean =>
  curve.value.some((one, i) => one !== null && curve.n[i] !== fullSize(curve));
