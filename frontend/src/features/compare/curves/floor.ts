/** How much the vertical axis of compared curves shows at least, as on the page of a run. Pure. */
import type { GroupCurve } from "@/api/seed-groups";
import type { Floor } from "@/charts/floor";
import { valuesOf } from "@/components/chart/columns";
import { floorOf, floorWith, middleWidth } from "@/components/chart/floor-of";
import type { Span } from "@/lib/format";

import { hasMean } from "./columns";
import type { Chart } from "./chart";

/** Of the group or run that is most certain: what is clear of it stays clear. */
export function floorOfAll(chart: Chart): Floor | null {
  const { explained, groups, shown, runs, zoom, look } = chart;
  if (zoom !== null || look.isLog) return null;
  const means = groups.filter(hasMean);
  const alone = shown.filter(({ group }) => means.every((one) => one.group !== group));
  const floors = [
    ...means.map((one) => floorOfMean(one, chart)),
    ...alone.map((one) => floorOf(one, null, runs.get(one.run)?.config)),
  ];
  // A curve that does not tell how noisy it is says nothing of the others.
  const known = floors.filter((one) => one !== null && one.span > 0);
  const inSight = floors.filter((one) => one !== null && one.includes !== null);
  if (known.length > 0 || inSight.length > 0)
    return [...(known.length > 0 ? known : inSight)].reduce(lesser, null);
  const values = [...means.flatMap(({ value }) => value), ...alone.flatMap(valuesOf)];
  return values.length === 0 ? null : floorWith(explained, 0, values, {});
}

function floorOfMean({ group, value, low, high }: GroupCurve, chart: Chart): Floor {
  const first = chart.answer.groups[group]?.runs[0] ?? "";
  const config = chart.runs.get(first)?.config ?? {};
  return floorWith(chart.explained, middleWidth(low, high), value, config);
}

function lesser(one: Floor | null, other: Floor | null): Floor | null {
  if (one === null || other === null) return one ?? other;
  const { includes: a, span } = one;
  const { includes: b } = other;
  const includes = a !== null && b !== null && lengthOf(b) < lengthOf(a) ? b : a;
  return { ...one, includes, span: Math.min(span, other.span) };
}

const lengthOf = ({ low, high }: Span): number => high - low;
