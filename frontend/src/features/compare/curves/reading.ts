/** What the curves of groups say where the cursor is. Pure. */
import type { GroupCurve } from "@/api/types";
import { upToText } from "@/charts/axes";
import type { Axis } from "@/charts/live-curves";
import { estimateText, FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { letterOf } from "@/components/seed-groups/group-names";
import { between, number, plural } from "@/lib/format";

/** How many runs a group has where it has the most. */
export const fullSize = ({ n }: GroupCurve): number => Math.max(0, ...n);

/** "A 0.52 [0.50, 0.54], mean of 3 seeds"; of fewer than all: "mean of 3 seeds (of 5)". */
export function readingAt(groups: readonly GroupCurve[], axis: Axis, x: number): readonly string[] {
  return groups.flatMap((curve) => {
    // A bin has the name of its greatest x.
    const place = curve.x.findIndex((one) => one >= x);
    const n = curve.n[place];
    if (n === undefined) return [];
    const end = curve.x[place] ?? x;
    const at = end === x ? "" : ` ${upToText(axis, end)}`;
    const [value, low, high] = [curve.value[place], curve.low[place], curve.high[place]];
    const full = fullSize(curve);
    const of = n < full ? ` (of ${full})` : "";
    const letter = letterOf(curve.group);
    if (value == null) return [`${letter} ${plural(n, "seed")}${of}, no mean${at}`];
    const interval = low == null || high == null ? "" : ` ${between({ low, high })}`;
    return [`${letter} ${number(value)}${interval}, ${estimateText(curve.is_iqm, n)}${of}${at}`];
  });
}

/** What is drawn how, while no cursor says more. */
export function legendOf(groups: readonly GroupCurve[], axis: Axis): string {
  const own = groups.filter(({ n }) => n.length > 0);
  const sizes = own.map(fullSize);
  const few = sizes.some((size) => size < FEWEST_FOR_MEAN)
    ? "A group of fewer than three seeds has a line for each run and no mean."
    : "";
  const iqms = own.filter(({ is_iqm }) => is_iqm).length;
  const estimator = iqms === 0 ? "mean" : iqms === own.length ? "IQM" : "mean or IQM";
  const many = sizes.some((size) => size >= FEWEST_FOR_MEAN)
    ? `Thick: the ${estimator} of the seeds with its 95 % interval; dashed with rings where some seeds have no value, because they ended or are not there yet; thin: single runs.`
    : "";
  const joined =
    axis !== "step" && many !== ""
      ? "Between two of its points, a seed's value is interpolated linearly."
      : "";
  return [many, joined, few].filter((one) => one !== "").join(" ");
}

/** The same in a line, for a picture. */
export function shownAs(groups: readonly GroupCurve[], axis: Axis): string {
  const withMean = groups.filter((one) => fullSize(one) >= FEWEST_FOR_MEAN);
  if (withMean.length === 0) return "A line for each run";
  const isPartial = withMean.some(({ n }) => new Set(n).size > 1);
  return [
    "Bands: 95 % intervals over seeds",
    ...(axis === "step" ? [] : ["interpolated between points"]),
    ...(isPartial ? ["dashed: fewer seeds"] : []),
    "thin: single runs",
  ].join("; ");
}
