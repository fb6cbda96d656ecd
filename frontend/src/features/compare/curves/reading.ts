/** What the curves of groups say where the cursor is. Pure. */
import type { GroupCurve } from "@/api/types";
import { placeText } from "@/charts/axes";
import type { Axis } from "@/charts/live-curves";
import { estimateText, FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { letterOf } from "@/components/seed-groups/group-names";
import { between, number, plural } from "@/lib/format";

/** How many runs a group has where it has the most. */
export const fullSize = ({ n }: GroupCurve): number => Math.max(0, ...n);

/** "A: 0.52 [0.50, 0.54], mean of 3 seeds"; of fewer than all: "mean of 3 seeds (of 5)". */
export function readingAt(groups: readonly GroupCurve[], axis: Axis, x: number): readonly string[] {
  // A bucket has the name of its greatest x, in all groups alike.
  const end = Math.min(...groups.flatMap((curve) => curve.x.filter((one) => one >= x)));
  return groups.flatMap((curve) => {
    const place = curve.x.indexOf(end);
    const n = curve.n[place];
    if (n === undefined) return [];
    const at = end === x ? "" : ` in the ${bucketText(axis, end)}`;
    const [value, low, high] = [curve.value[place], curve.low[place], curve.high[place]];
    const full = fullSize(curve);
    const of = n < full ? ` (of ${full})` : "";
    const letter = letterOf(curve.group);
    if (value == null) return [`${letter}: ${plural(n, "seed")}${of}, no mean${at}`];
    const interval = low == null || high == null ? "" : ` ${between({ low, high })}`;
    return [`${letter}: ${number(value)}${interval}, ${estimateText(curve.is_iqm, n)}${of}${at}`];
  });
}

const bucketText = (axis: Axis, end: number): string =>
  `bucket that ends ${axis === "relative" ? "" : "at "}${placeText(axis, end)}`;

/** What is drawn how, while no cursor says more. */
export function legendOf(groups: readonly GroupCurve[], axis: Axis): string {
  const own = groups.filter(({ n }) => n.length > 0);
  const sizes = own.map(fullSize);
  const few = sizes.some((size) => size < FEWEST_FOR_MEAN)
    ? "A group of fewer than three seeds has a line for each run and no mean."
    : "";
  const many = sizes.some((size) => size >= FEWEST_FOR_MEAN)
    ? `Thick: the ${estimatorOf(own.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN))} of the seeds with its 95 % interval; dashed with rings where some seeds have no value, because they have ended or have not got that far; thin: single runs.`
    : "";
  const joined =
    axis !== "step" && many !== ""
      ? "Between two of its points, a seed's value is interpolated linearly."
      : "";
  return [many, joined, few].filter((one) => one !== "").join(" ");
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
  return parts.flatMap(([isDrawn, text]) => (isDrawn ? [text] : [])).join("; ");
}

function estimatorOf(groups: readonly GroupCurve[]): string {
  const iqms = groups.filter(({ is_iqm }) => is_iqm).length;
  return iqms === 0 ? "mean" : iqms === groups.length ? "IQM" : "mean or IQM";
}

/** Whether some of a mean is of fewer seeds than its group has elsewhere. */
const isPartial = (curve: GroupCurve): boolean =>
  curve.value.some((one, i) => one !== null && curve.n[i] !== fullSize(curve));
