/** Curves as a whole with a part of them closer, so that lines lead in and out of the part. Pure. */
import type { GroupCurve } from "@/api/seed-groups";
import type { Series } from "@/api/types";
import { curveOf, within, type Curve } from "@/charts/live-curves";

/** Whether no curve leaves a point out. */
export const isComplete = (series: readonly Series[]): boolean =>
  series.every(({ n, x }) => n === x.length);

/** `part`: some neighbouring points of the curve, closer; undefined = there are none. */
export function runCurve(whole: Series, part: Series | undefined): Curve {
  const ends = endsOf(part?.x ?? []);
  const curve = curveOf(whole);
  return part === undefined || ends === null ? curve : within(curve, curveOf(part), ends);
}

/** `part`: some neighbouring buckets of the curve, closer; undefined = there are none. */
export function groupCurve(whole: GroupCurve, part: GroupCurve | undefined): GroupCurve {
  const ends = endsOf(part?.x ?? []);
  if (part === undefined || ends === null) return whole;
  const [first, last] = ends;
  const before = whole.x.filter((x) => x < first).length;
  const behind = whole.x.filter((x) => x <= last).length;
  const joined = <Item>(column: readonly Item[], close: readonly Item[]): Item[] => [
    ...column.slice(0, before),
    ...close,
    ...column.slice(behind),
  ];
  return {
    ...whole,
    x: joined(whole.x, part.x),
    n: joined(whole.n, part.n),
    n_nan: joined(whole.n_nan, part.n_nan),
    value: joined(whole.value, part.value),
    low: joined(whole.low, part.low),
    high: joined(whole.high, part.high),
  };
}

function endsOf(x: readonly number[]): readonly [number, number] | null {
  const [first, last] = [x[0], x.at(-1)];
  return first === undefined || last === undefined ? null : [first, last];
}
