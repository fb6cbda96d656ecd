/**
 * Curves of one run that grow while it runs: the server's buckets first, then live points.
 *
 * Mutable on purpose: a run page appends thousands of points and draws at most ten times a second.
 * It knows no server and no chart.
 */
export type Axis = "step" | "tokens" | "time";

export interface Curve {
  x: number[];
  min: (number | null)[];
  max: (number | null)[];
  mean: (number | null)[];
  last: (number | null)[];
}

export interface Bucketed extends Curve {
  readonly name: string;
}

export interface Point {
  readonly step: number;
  readonly tokens: number;
  readonly time: number;
  readonly values: Readonly<Record<string, number | null>>;
}

const empty = (): Curve => ({ x: [], min: [], max: [], mean: [], last: [] });

export class LiveSeries {
  readonly curves = new Map<string, Curve>();

  constructor(readonly axis: Axis) {}

  /** The server's answer takes the place of all there was; points live since then are kept. */
  load(series: readonly Bucketed[], since: readonly Point[] = []): void {
    this.curves.clear();
    for (const { name, x, min, max, mean, last } of series)
      this.curves.set(name, {
        x: [...x],
        min: [...min],
        max: [...max],
        mean: [...mean],
        last: [...last],
      });
    for (const point of since) this.append(point);
  }

  /** A point at or before the last x is already there: the stream may send again what was read. */
  append(point: Point): void {
    const x = point[this.axis];
    for (const [name, value] of Object.entries(point.values)) {
      const curve = this.curves.get(name) ?? empty();
      const end = curve.x.at(-1);
      if (end !== undefined && x <= end) continue;
      curve.x.push(x);
      for (const column of [curve.min, curve.max, curve.mean, curve.last]) column.push(value);
      this.curves.set(name, curve);
    }
  }

  /** Everything beyond `step` is void. Only where x is the step; else the caller loads anew. */
  rewind(step: number): void {
    for (const curve of this.curves.values()) {
      const kept = curve.x.filter((x) => x <= step).length;
      for (const column of [curve.x, curve.min, curve.max, curve.mean, curve.last])
        column.length = kept;
    }
  }
}
