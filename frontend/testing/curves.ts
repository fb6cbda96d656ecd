/** Curves as charts read them, for tests. */
import type { Curve } from "@/charts/live-curves";

type Values = readonly (number | null)[];

/** Single points; null is a value that is not finite. */
export function curveAt(x: readonly number[], values: Values, more: Partial<Curve> = {}): Curve {
  const column = [...values];
  const finite = column.filter((one) => one !== null);
  return {
    ...{ x: [...x], min: column, max: column, mean: column, last: column },
    ...{ n: x.map(() => 1), nNan: column.map((one) => (one === null ? 1 : 0)), part: null },
    ends: { n: x.length, first: finite[0] ?? null, newest: finite.at(-1) ?? null },
    ...more,
  };
}

/** Single points at steps from 0 on. */
export const curveOfSteps = (values: Values, more: Partial<Curve> = {}): Curve =>
  curveAt([...values.keys()], values, more);

/** Means of buckets of `n` points. Their extremes are `spread` away, their last value half of it. */
export function bucketsAt(x: readonly number[], means: Values, spread: number, n = 3): Curve {
  const apart = (by: number) => means.map((one) => (one === null ? null : one + by));
  const curve = curveAt(x, means, { n: x.map(() => n) });
  const columns = { min: apart(-spread), max: apart(spread), last: apart(spread / 2) };
  return { ...curve, ...columns, ends: { ...curve.ends, n: n * x.length } };
}
