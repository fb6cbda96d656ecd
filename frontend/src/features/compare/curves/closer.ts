/** Curves as a whole with a part of them closer, so that lines lead in and out of the part. Pure. */
import type { GroupCurve, Series } from "@/api/types";
import { curveOf, within, type Curve, type Zoom } from "@/charts/live-curves";

/** Of what is seen, so much more is asked for on both sides: joined lines need points there. */
const ROOM = 0.5;

/** The part of the curves that is asked for to show a zoom. */
export function around([from, to]: NonNullable<Zoom>): readonly [number, number] {
  const room = ROOM * (to - from);
  return [from - room, to + room];
}

/** Whether no curve leaves a point out: a closer look would show no more. */
export const isComplete = (series: readonly Series[]): boolean =>
  series.every(({ n, x }) => n === x.length);

/** `part`: what there is of the curve within these bounds; null = that is not known. */
export function runCurve(whole: Series, part: Series | null, bounds: Zoom): Curve {
  const curve = curveOf(whole);
  return bounds === null || part === null ? curve : within(curve, curveOf(part), bounds);
}

/** `part`: what there is of the curve within these bounds; undefined = that is not known. */
export function groupCurve(
  whole: GroupCurve,
  part: GroupCurve | undefined,
  bounds: Zoom,
): GroupCurve {
  if (bounds === null || part === undefined) return whole;
  const [low, high] = bounds;
  const before = whole.x.filter((x) => x < low).length;
  const behind = whole.x.filter((x) => x <= Math.max(high, part.x.at(-1) ?? high)).length;
  const joined = <Item>(column: readonly Item[], close: readonly Item[]): Item[] => [
    ...column.slice(0, before),
    ...close,
    ...column.slice(behind),
  ];
  return {
    ...whole,
    x: joined(whole.x, part.x),
    n: joined(whole.n, part.n),
    value: joined(whole.value, part.value),
    low: joined(whole.low, part.low),
    high: joined(whole.high, part.high),
  };
}
