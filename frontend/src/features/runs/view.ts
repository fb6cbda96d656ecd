/** What the table shows, as its address says it: which runs, in which order, with which columns. Pure. */
export interface View {
  readonly filter: string;
  /** A key, with "-" before it the greatest first; "" = newest first. */
  readonly sort: string;
  readonly columns: readonly string[];
}

/** Columns that every run has, with their headings and what they are sorted by. */
export const BUILT_IN: Readonly<Record<string, { title: string; sort?: string }>> = {
  state: { title: "State", sort: "state" },
  verdict: { title: "Verdict", sort: "verdict" },
  method: { title: "Method", sort: "method" },
  experiment: { title: "Experiment", sort: "experiment" },
  latest: { title: "Latest value" },
  trend: { title: "Trend" },
  progress: { title: "Progress", sort: "step" },
  created: { title: "Created", sort: "created" },
  started: { title: "Started", sort: "started" },
  finished: { title: "Ended", sort: "finished" },
};

export const DEFAULT_COLUMNS: readonly string[] = [
  "state",
  "verdict",
  "method",
  "latest",
  "trend",
  "progress",
  "created",
];

/** Of a config or of a metric. */
export const isKey = (column: string) => /^(config|metric|best|min|max)\../.test(column);

export const MOST_KEYS = 20;

export function viewOf(search: URLSearchParams): View {
  const said = search.get("columns")?.split(",") ?? DEFAULT_COLUMNS;
  const known = [...new Set(said)].filter((one) => one in BUILT_IN || isKey(one));
  const keys = known.filter(isKey).slice(0, MOST_KEYS);
  return {
    filter: search.get("filter") ?? "",
    sort: search.get("sort") ?? "",
    columns: known.filter((one) => !isKey(one) || keys.includes(one)),
  };
}

/** The address of a view; what is as usual is left out. */
export function searchOf(view: View, before: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(before);
  const put = (name: string, value: string, usual: string) =>
    value === usual ? next.delete(name) : next.set(name, value);
  put("filter", view.filter, "");
  put("sort", view.sort, "");
  put("columns", view.columns.join(","), DEFAULT_COLUMNS.join(","));
  return next;
}

/** A press on a heading: the greatest first, then the least first, then as usual. */
export function nextSort(now: string, key: string): string {
  if (now === `-${key}`) return key;
  return now === key ? "" : `-${key}`;
}

/** What a heading says to who cannot see it. */
export function ariaSort(now: string, key: string | undefined) {
  if (key === undefined) return undefined;
  if (now === key) return "ascending";
  return now === `-${key}` || (now === "" && key === "created") ? "descending" : "none";
}
