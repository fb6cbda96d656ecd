/** What the registry of the service says of the metrics that a run has; pure. */
import type { Metric } from "@/api/types";
import { words } from "@/lib/format";

export interface Explained {
  readonly name: string;
  readonly title: string;
  /** Null for a metric that the registry does not know, such as one of somebody's own trainer. */
  readonly metric: Metric | null;
  readonly group: string;
  /** Measured at single steps: markers, never smoothed. */
  readonly isEvaluation: boolean;
  /** Place in the order in which metrics are shown; the same for all of one pattern. */
  readonly order: number;
}

export type Explain = (name: string) => Explained;

export const OTHER = "Other";
/** The unit of what lies between 0 and 1. */
export const SHARE = "share";

/** Whether the values of a metric are steps. */
export const isStep = (name: string): boolean => name.endsWith("best_step");

interface Pattern {
  readonly metric: Metric;
  /** The names of its parts, in their order. */
  readonly places: readonly string[];
  readonly fits: RegExp;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const PLACE = /\{(\w+)\}/g;

/** A name with parts such as `{term}`; the last one stands for anything, others for one word of it. */
const patternOf = (metric: Metric): Pattern => {
  const between = metric.name.split(/\{\w+\}/).map(escaped);
  const last = between.length - 2;
  const fits = between
    .map((text, i) => text + (i < last ? "([^/]+?)" : i === last ? "(.+)" : ""))
    .join("");
  const places = Array.from(metric.name.matchAll(PLACE), (found) => found[1] ?? "");
  return { metric, places, fits: new RegExp(`^${fits}$`) };
};

/** The title of a metric with what its name has in each place. */
function titled({ metric, places }: Pattern, parts: readonly string[]): string {
  return metric.title.replace(PLACE, (_, place: string) =>
    words(parts[places.indexOf(place)] ?? place),
  );
}

export function explainer(metrics: readonly Metric[]): Explain {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const patterns = metrics.filter(({ name }) => name.includes("{")).map(patternOf);
  const known = new Map<string, Explained>();
  const made = (name: string): Explained => {
    const metric = byName.get(name);
    if (metric !== undefined) return of(name, metric, metric.title);
    for (const pattern of patterns) {
      const found = pattern.fits.exec(name);
      if (found !== null) return of(name, pattern.metric, titled(pattern, found.slice(1)));
    }
    return { name, title: name, metric: null, group: OTHER, ...UNKNOWN(name) };
  };
  const of = (name: string, metric: Metric, title: string): Explained => ({
    name,
    title,
    metric,
    group: metric.group,
    isEvaluation: metric.is_evaluation,
    order: metrics.indexOf(metric),
  });
  return (name) => {
    const found = known.get(name) ?? made(name);
    known.set(name, found);
    return found;
  };
}

const UNKNOWN = (name: string) => ({
  isEvaluation: /^(eval|gold|outside)\//.test(name),
  order: Infinity,
});

/** What a chart and a table say of a metric beside its value. */
export const unitOf = ({ metric }: Explained): string => metric?.unit ?? "";

/** What the ends of the 95 % interval of a metric are called, where it has one. */
export const endNames = (name: string): readonly [string, string] => [
  `${name}_low`,
  `${name}_high`,
];

/** Names of the ends of its 95 % interval, if both are there. */
export function endsOf(
  name: string,
  names: { has: (name: string) => boolean },
  explain: Explain,
): readonly [string, string] | null {
  const { metric } = explain(name);
  const [low, high] = endNames(name);
  const mayHave = metric === null || metric.has_interval;
  return mayHave && names.has(low) && names.has(high) ? [low, high] : null;
}

const END = /^(.+)_(?:low|high)$/;

/** Whether it is the end of an interval of another metric, which shows it. */
export function isEnd(
  name: string,
  names: { has: (name: string) => boolean },
  explain: Explain,
): boolean {
  const whole = END.exec(name)?.[1];
  return whole !== undefined && names.has(whole) && endsOf(whole, names, explain) !== null;
}
