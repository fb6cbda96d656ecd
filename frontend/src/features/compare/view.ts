/** What a comparison shows, in its address: runs, metrics, what is hidden, prompt and step. */
import type { Axis, Zoom } from "@/charts/live-curves";
import { smoothingOf } from "@/charts/smoothing";
import { axisOf, zoomOf, zoomParam } from "@/components/chart/window";
import { useViewSearch } from "@/components/views/view-search";
import { withValues } from "@/lib/address/use-address";
import { number, plural } from "@/lib/format";

/** Of one request of the API. */
export const MOST_RUNS = 100;

const FIRST_SHOWN = [
  "eval/reward",
  "kl/exact",
  "length/mean",
  "entropy",
  "eval/accuracy",
  "eval/loss",
];
const MOST_AT_FIRST = 4;

/** Runs of different days have no time of day in common. */
export const AXES: readonly [Axis, ...Axis[]] = ["step", "tokens", "relative"];

const listed = (text: string | null): readonly string[] => (text ?? "").split(",").filter(Boolean);

const toggled = (list: readonly string[], item: string): readonly string[] =>
  list.includes(item) ? list.filter((one) => one !== item) : [...list, item];

/** Null or an empty list takes a name out of the address. */
type Changes = Readonly<Record<string, string | readonly string[] | null>>;

const textsOf = (changes: Changes) =>
  Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name,
      (typeof value === "string" ? value : (value ?? []).join(",")) || null,
    ]),
  );

/** The address without a run: it is no longer hidden or shown beside others either. */
export const withoutRun = (now: URLSearchParams, runId: string): Changes =>
  Object.fromEntries(
    ["runs", "hide", "columns"].map((name) => [
      name,
      listed(now.get(name)).filter((one) => one !== runId),
    ]),
  );

export const withRun = (now: URLSearchParams, runId: string): Changes => ({
  runs: [...new Set([...listed(now.get("runs")), runId])],
});

/** How many runs are compared; of more in the address, which. */
export function countText(n: number): string {
  if (n === 0) return "No runs are chosen.";
  if (n <= MOST_RUNS) return plural(n, "run");
  return `The first ${number(MOST_RUNS)} of ${number(n)} runs: more cannot be compared at once.`;
}

function stepOf(text: string | null): number | null {
  const step = Number(text ?? "-");
  return Number.isSafeInteger(step) && step >= 0 ? step : null;
}

export function useView() {
  const { search, setSearch, saved } = useViewSearch();
  /** `changes`: or what becomes of what is shown now. */
  const set = (changes: Changes | ((now: URLSearchParams) => Changes)) =>
    setSearch((now) =>
      withValues(now, textsOf(typeof changes === "function" ? changes(now) : changes)),
    );
  const hidden = new Set(listed(search.get("hide")));
  return {
    /** The saved view that the address names; null without one. */
    saved,
    runIds: listed(search.get("runs")).slice(0, MOST_RUNS),
    /** How many the address names. */
    runCount: listed(search.get("runs")).length,
    metric: search.get("by"),
    /** The set whose evaluations decide; null: the first that could. */
    evaluatedOn: search.get("set"),
    names: listed(search.get("metrics")),
    hidden,
    /** What reward against KL is told by; null: by what decides. */
    measure: search.get("measure"),
    /** Whether reward is drawn against the square root of the KL. */
    isRoot: search.get("kl") === "root",
    /** Which of the tables of results is shown; null: the first. */
    table: search.get("table"),
    /** Which breakdown is shown, and as what. */
    breakdown: search.get("breakdown"),
    breakdownAs: search.get("as"),
    /** The prompt whose samples stand side by side, at which step, of which runs. */
    prompt: search.get("prompt"),
    upTo: stepOf(search.get("at")),
    columns: listed(search.get("columns")),
    /** Of all curves: the horizontal axis, the part of it that is shown; smoothing, scale, charts or tables. */
    axis: axisOf(search.get("x"), AXES),
    zoom: zoomOf(search.get("zoom")),
    smoothing: smoothingOf(search.get("smooth")),
    isLog: search.get("scale") === "log",
    isTable: search.get("form") === "table",
    /** The letter of the group that the responses of the others are compared with. */
    base: search.get("diff"),
    set,
    zoomTo: (zoom: Zoom) => set({ zoom: zoomParam(zoom) }),
    leaveOut: (runId: string) => set((now) => withoutRun(now, runId)),
    add: (runId: string) => set((now) => withRun(now, runId)),
    toggle: (runId: string) => set((now) => ({ hide: toggled(listed(now.get("hide")), runId) })),
  };
}

/** Panels that belong together, as in figures 2, 5 and 6 of the paper (arXiv 2501.03262). */
const FIGURES = [
  { title: "Reward and KL", names: ["reward/mean", "kl/response"] },
  { title: "Reward and length", names: ["reward/mean", "length/mean"] },
] as const;

/** The figures whose metrics all are known. */
export const figuresOf = (known: readonly string[]) =>
  FIGURES.filter((figure) => figure.names.every((name) => known.includes(name)));

/** What is drawn before anybody has chosen: what decides, what it costs, what it does. */
export function firstNames(known: readonly string[], by: string | null): readonly string[] {
  const wanted = [...(by === null ? [] : [by]), ...FIRST_SHOWN];
  const found = [...new Set(wanted)].filter((name) => known.includes(name));
  return (found.length > 0 ? found : known).slice(0, MOST_AT_FIRST);
}
