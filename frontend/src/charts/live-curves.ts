/**
 * Curves of one run that are loaded while they grow, as a whole and closer where the reader zooms.
 *
 * A load takes the place of every earlier one: only the newest may apply, whatever order the
 * answers come in. Until a closer look has come, the one before stays. Mutable on purpose: a run
 * page appends thousands of points and draws at most ten times a second. It knows no server and no
 * chart; the page says how to ask.
 */
export type Axis = "step" | "tokens" | "time" | "relative";

/** Least and greatest x of what is shown, both inclusive; null = everything. */
export type Zoom = readonly [number, number] | null;

type Column = (number | null)[];

/** What a curve begins and ends with, exact also where its columns are buckets. */
export interface Ends {
  /** How many points there are. */
  readonly n: number;
  /** Their first finite value; null = there is none. */
  readonly first: number | null;
  readonly newest: number | null;
}

export interface Curve {
  x: number[];
  min: Column;
  max: Column;
  mean: Column;
  last: Column;
  /** Points of each bucket. */
  n: number[];
  /** Those of them that have no finite value. */
  nNan: number[];
  ends: Ends;
  /** The ends of the part that the reader looks at; null = of everything. */
  part: Ends | null;
}

/** A curve as the server answers it: value = low + unit x number. */
export interface Answered {
  readonly name: string;
  /** Points of all buckets. */
  readonly n: number;
  readonly x: readonly number[];
  readonly n_points: readonly number[];
  readonly n_nan: readonly number[];
  /** Where the axis of relative time begins, seconds since the epoch. */
  readonly origin: number;
  /** The finite values at both ends, exact. */
  readonly first: number | null;
  readonly newest: number | null;
  readonly y: {
    readonly low: number;
    readonly unit: number;
    readonly min: readonly (number | null)[];
    readonly max: readonly (number | null)[];
    readonly mean: readonly (number | null)[];
    readonly last: readonly (number | null)[];
  };
}

export interface Point {
  readonly step: number;
  readonly tokens: number;
  readonly time: number;
  readonly values: Readonly<Record<string, number | null>>;
}

/** What is told of a run; curves take what is theirs. */
export interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type FetchSeries = (zoom: Zoom) => Promise<readonly Answered[]>;

const COLUMNS = ["x", "min", "max", "mean", "last", "n", "nNan"] as const;

/** Evaluations made elsewhere: of something that was kept, so no rewind voids them. */
const FROM_OUTSIDE = /^(gold|outside)\//;

/** Whether somebody attached the metric of this name: its points come in any order, at any time. */
export const isFromOutside = (name: string): boolean => FROM_OUTSIDE.test(name);

/** Points that are told come one by one: after so many the server sums everything up anew. */
const MOST_TOLD = 2000;

const NO_ENDS: Ends = { n: 0, first: null, newest: null };

const empty = (): Curve => ({
  ...{ x: [], min: [], max: [], mean: [], last: [], n: [], nNan: [] },
  ...{ ends: NO_ENDS, part: null },
});

export function curveOf(answered: Omit<Answered, "name" | "origin">): Curve {
  const { n, x, n_points, n_nan, first, newest, y } = answered;
  const values = (numbers: readonly (number | null)[]) =>
    numbers.map((one) => (one === null ? null : y.low + y.unit * one));
  return {
    x: [...x],
    min: values(y.min),
    max: values(y.max),
    mean: values(y.mean),
    last: values(y.last),
    n: [...n_points],
    nNan: [...n_nan],
    ends: { n, first, newest },
    part: null,
  };
}

type Curves = Map<string, Curve>;

export class LiveCurves {
  isLoaded = false;
  private isLoading = false;
  private isLooking = false;
  private loadError: unknown = null;
  private lookError: unknown = null;
  private whole: Curves = new Map();
  /** What is drawn while the reader is zoomed in; null = the whole. */
  private close: Curves | null = null;
  private zoom: Zoom = null;
  /** Where relative time begins, seconds since the epoch; null = no metric yet, or another axis. */
  origin: number | null = null;
  /** What is told while an answer is on its way; null = none is. */
  private waiting: Point[] | null = null;
  /** Points since the newest answer. */
  private nTold = 0;
  /** Whether one of them belongs between points that are here, or in the place of one. */
  private isOutdated = false;
  private newest = 0;
  private newestLook = 0;
  private isClosed = false;

  /** `fetchSeries` must begin a request of its own each time: it has to see all that was told. */
  constructor(
    readonly axis: Axis,
    private readonly fetchSeries: FetchSeries,
    private readonly onChange: () => void,
  ) {}

  /** Why the last load, or the last closer look at this part, failed, until one succeeds. */
  get error(): unknown {
    return this.loadError ?? this.lookError;
  }

  get isAsking(): boolean {
    return this.isLoading || this.isLooking;
  }

  /** What there is to draw: close where the reader looks, coarse before and behind. */
  get curves(): ReadonlyMap<string, Curve> {
    return this.close ?? this.whole;
  }

  /** It follows its run: what was before is there to be loaded now. */
  readonly onJoin = (): void => void this.load();

  /** What the stream tells of the run. */
  readonly onEvent = ({ type, data }: Told): void => {
    switch (type) {
      case "metric":
        for (const point of (data["points"] ?? []) as readonly Point[]) this.append(point);
        this.renewIfDue();
        break;
      case "rewind":
        this.rewind(Number(data["step"]));
        break;
      case "reset":
        return this.onJoin();
      default:
        return;
    }
    this.onChange();
  };

  /** Whether the stream lives is told elsewhere. */
  readonly onStatus = (): void => undefined;

  /** Loads everything anew; never rejects. */
  async load(): Promise<void> {
    if (this.isClosed) return;
    this.isLoaded = false;
    this.isLoading = true;
    const asked = this.ask();
    // Whoever reads why the last one failed sees that it is tried again; nothing else has changed.
    if (this.error !== null) this.onChange();
    const answer = await asked;
    if (answer === null) return;
    this.loadError = answer.problem;
    this.isLoading = false;
    this.onChange();
    await this.look();
  }

  /** The same while what is here is shown and grows; if that fails, the next point asks again. */
  private async renew(): Promise<void> {
    const { nTold, isOutdated } = this;
    const answer = await this.ask();
    if (answer === null) return;
    if (answer.problem !== null) {
      this.nTold += nTold;
      this.isOutdated ||= isOutdated;
      return;
    }
    this.onChange();
    if (this.zoom !== null) await this.look();
  }

  /** Asks for everything. The answer has why that failed; it is null if there is a newer one. */
  private async ask(): Promise<{ readonly problem: unknown } | null> {
    const mine = ++this.newest;
    // The stream tells what is stored: the answer to a request that begins now has these points.
    const told: Point[] = [];
    this.waiting = told;
    this.nTold = 0;
    this.isOutdated = false;
    try {
      const series = await this.fetchSeries(null);
      if (mine !== this.newest) return null;
      this.whole = curvesOf(series);
      this.origin = series[0]?.origin ?? null;
      this.isLoaded = true;
    } catch (problem) {
      if (mine !== this.newest) return null;
      this.waiting = null;
      return { problem };
    }
    this.waiting = null;
    for (const point of told) this.append(point);
    this.renewIfDue();
    return { problem: null };
  }

  private renewIfDue(): void {
    const isDue = this.isOutdated || this.nTold > MOST_TOLD;
    if (isDue && this.waiting === null) void this.renew();
  }

  /** Looks closer at a part, or at the whole again; never rejects. */
  async zoomTo(zoom: Zoom): Promise<void> {
    if (zoom?.[0] === this.zoom?.[0] && zoom?.[1] === this.zoom?.[1]) return;
    this.zoom = zoom;
    // Why another part could not be loaded says nothing of this one.
    this.lookError = null;
    this.newestLook += 1;
    this.isLooking = false;
    if (this.isLoaded) await this.look();
  }

  append(point: Point): void {
    this.waiting?.push(point);
    if (!this.isLoaded) return;
    const x = this.place(point);
    for (const curves of this.close === null ? [this.whole] : [this.whole, this.close])
      for (const [name, value] of Object.entries(point.values)) {
        const isNew = appended(curves, name, x, value, this.zoom?.[1] ?? Infinity);
        if (!isNew && isFromOutside(name)) this.isOutdated = true;
      }
    this.nTold += 1;
  }

  /** What the trainer said beyond `step` is void, also in an answer that is on its way. */
  rewind(step: number): void {
    // What is on its way may have points that are void.
    if (this.waiting !== null || !this.isLoaded || this.axis !== "step") {
      void this.load();
      return;
    }
    for (const curves of [this.whole, ...(this.close === null ? [] : [this.close])])
      for (const [name, curve] of curves) {
        if (isFromOutside(name)) continue;
        const kept = curve.x.filter((x) => x <= step).length;
        for (const column of COLUMNS) curve[column].length = kept;
        curve.ends = rewound(curve);
      }
    if (this.zoom !== null) void this.look();
  }

  /** Nothing counts any more, neither what is on its way nor what is asked for later. */
  end(): void {
    this.isClosed = true;
    this.newest += 1;
    this.newestLook += 1;
  }

  /** The part that the reader looks at, as the server has it now. */
  private async look(): Promise<void> {
    const mine = ++this.newestLook;
    const { zoom } = this;
    if (this.isClosed) return;
    this.isLooking = zoom !== null;
    if (zoom === null) {
      this.close = null;
      this.onChange();
      return;
    }
    if (this.error !== null) this.onChange();
    try {
      const series = await this.fetchSeries(zoom);
      if (mine !== this.newestLook) return;
      const part = curvesOf(series);
      this.close = new Map(
        [...this.whole].map(([name, curve]) => [name, within(curve, part.get(name), zoom)]),
      );
      this.lookError = null;
    } catch (problem) {
      if (mine !== this.newestLook) return;
      this.lookError = problem;
    }
    this.isLooking = false;
    this.onChange();
  }

  private place(point: Point): number {
    if (this.axis !== "relative") return point[this.axis];
    this.origin ??= point.time;
    return point.time - this.origin;
  }
}

function curvesOf(series: readonly Answered[]): Curves {
  return new Map(series.map((one) => [one.name, curveOf(one)]));
}

function rewound({ n, last, ends }: Curve): Ends {
  const newest = last.findLast((value) => value !== null) ?? null;
  return {
    n: n.reduce((sum, one) => sum + one, 0),
    first: newest === null ? null : ends.first,
    newest,
  };
}

const grown = ({ n, first, newest }: Ends, value: number | null): Ends => ({
  n: n + 1,
  first: first ?? value,
  newest: value ?? newest,
});

/**
 * Whether the point was new: one at or before the last x is already there, for the stream may send
 * again what was read. The part that the reader looks at ends at `to`.
 */
function appended(
  curves: Curves,
  name: string,
  x: number,
  value: number | null,
  to: number,
): boolean {
  const curve = curves.get(name) ?? empty();
  const end = curve.x.at(-1);
  if (end !== undefined && x <= end) return false;
  curve.x.push(x);
  for (const column of [curve.min, curve.max, curve.mean, curve.last]) column.push(value);
  curve.n.push(1);
  curve.nNan.push(value === null ? 1 : 0);
  curve.ends = grown(curve.ends, value);
  if (curve.part !== null && x <= to) curve.part = grown(curve.part, value);
  curves.set(name, curve);
  return true;
}

/** The whole with a part of it closer, so that lines lead in and out of the part. */
export function within(
  whole: Curve,
  part: Curve = empty(),
  [low, high]: readonly [number, number],
): Curve {
  const before = whole.x.filter((x) => x < low).length;
  const last = part.x.at(-1) ?? -Infinity;
  // What lies behind the part, and what was told since the server has answered.
  const rest = whole.x.findIndex((x) => x >= low && x > last);
  const told = whole.last.filter((_, place) => {
    const x = whole.x[place] ?? Infinity;
    return x >= low && x > last && x <= high;
  });
  const joined = <Item>(column: readonly Item[], close: readonly Item[]): Item[] => [
    ...column.slice(0, before),
    ...close,
    ...(rest < 0 ? [] : column.slice(rest)),
  ];
  return {
    x: joined(whole.x, part.x),
    min: joined(whole.min, part.min),
    max: joined(whole.max, part.max),
    mean: joined(whole.mean, part.mean),
    last: joined(whole.last, part.last),
    n: joined(whole.n, part.n),
    nNan: joined(whole.nNan, part.nNan),
    ends: whole.ends,
    part: told.reduce(grown, part.ends),
  };
}
