/** Which charts a run has: at most twelve first, the rest folded, single values as a table; pure. */
import type { Curve, Zoom } from "@/charts/live-curves";
import type { Drawn } from "@/components/chart/columns";
import {
  OTHER,
  endsOf,
  isEnd,
  isStep,
  type Explain,
  type Explained,
} from "@/components/metrics/explained";

/** Charts that are seen before any is unfolded. */
export const MOST_FIRST = 12;
/** Of one pattern, such as `gold/{name}`: one of many names must not hide all other metrics. */
const MOST_OF_PATTERN = 3;

/** What the machine had to do says nothing of the model: folded, however few other charts there are. */
export const SYSTEM = "System";

export interface ChartGroup {
  readonly title: string;
  readonly charts: readonly Drawn[];
}

export interface Layout {
  /** Those that the reader has pinned, in that order. */
  readonly pinned: readonly Drawn[];
  readonly first: readonly Drawn[];
  readonly folded: readonly ChartGroup[];
  /** Metrics with one value. */
  readonly single: readonly Drawn[];
}

type Curves = ReadonlyMap<string, Curve>;

export function layOut(
  curves: Curves,
  explain: Explain,
  search = "",
  pins: readonly string[] = [],
  /** The metric by which the run is judged: the first of the charts. */
  judge: string | null = null,
): Layout {
  const all = [...curves.keys()]
    .filter((name) => !isEnd(name, curves, explain))
    .map(explain)
    .filter((explained) => isFound(explained, search))
    .sort((a, b) => a.order - b.order || a.name.localeCompare(b.name))
    .flatMap((explained) => drawn(explained, curves, explain));
  const charts = all.filter(({ curve }) => curve.x.length > 1);
  const byName = new Map(charts.map((chart) => [chart.explained.name, chart]));
  const pinned = pins.flatMap((name) => byName.get(name) ?? []);
  const others = charts.filter((chart) => !pinned.includes(chart));
  const judging = others.filter(({ explained }) => explained.name === judge);
  const first = [...new Set([...judging, ...firstOf(others)])].slice(
    0,
    Math.max(0, MOST_FIRST - pinned.length),
  );
  return {
    pinned,
    first,
    folded: grouped(others.filter((chart) => !first.includes(chart))),
    single: all.filter(({ curve }) => curve.x.length === 1),
  };
}

/** Whether there is neither a chart nor a single value, also folded. */
export const isEmpty = ({ pinned, first, folded, single }: Layout): boolean =>
  [pinned, first, folded, single].every((part) => part.length === 0);

function isFound({ name, title }: Explained, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return name.toLowerCase().includes(wanted) || title.toLowerCase().includes(wanted);
}

function drawn(explained: Explained, curves: Curves, explain: Explain): Drawn[] {
  const curve = curves.get(explained.name);
  if (curve === undefined || curve.x.length === 0) return [];
  const own = intervalsOf(explained.name, curves, explain);
  const noisy = explained.metric?.noise_of ?? null;
  return [
    {
      explained,
      curve,
      low: own?.low ?? null,
      high: own?.high ?? null,
      noise: noisy === null ? null : intervalsOf(noisy, curves, explain),
    },
  ];
}

/** The ends of the intervals of a metric. */
function intervalsOf(name: string, curves: Curves, explain: Explain) {
  const [low, high] = (endsOf(name, curves, explain) ?? []).map((end) => curves.get(end));
  return low === undefined || high === undefined ? null : { low, high };
}

/** A step has no course, and what the machine had to do says nothing of the model. */
const isFolded = ({ name, group }: Explained): boolean => group === SYSTEM || isStep(name);

/** Those that tell most; where they are fewer than twelve, the next in order. */
function firstOf(charts: readonly Drawn[]): readonly Drawn[] {
  const ofPattern = new Map<string, number>();
  const isKey = ({ explained: { metric } }: Drawn) => {
    if (metric === null || !metric.is_key) return false;
    const count = (ofPattern.get(metric.name) ?? 0) + 1;
    ofPattern.set(metric.name, count);
    return count <= MOST_OF_PATTERN;
  };
  const keys = charts.filter(isKey);
  const others = charts.filter((chart) => !keys.includes(chart) && !isFolded(chart.explained));
  return [...keys, ...others].slice(0, MOST_FIRST);
}

function grouped(charts: readonly Drawn[]): ChartGroup[] {
  const titles = new Set(charts.map(({ explained }) => explained.group));
  const ordered = [...titles].filter((title) => title !== OTHER);
  return [...ordered, ...(titles.has(OTHER) ? [OTHER] : [])].map((title) => ({
    title,
    charts: charts.filter(({ explained }) => explained.group === title),
  }));
}

/** Least and greatest x of all charts, so that the same place is the same x in each of them. */
export function rangeOf(charts: readonly Drawn[]): Zoom {
  const known = charts.filter(({ curve }) => curve.x.length > 0);
  const low = Math.min(...known.map(({ curve }) => curve.x[0] ?? Infinity));
  const high = Math.max(...known.map(({ curve }) => curve.x.at(-1) ?? -Infinity));
  return high > low ? [low, high] : null;
}
