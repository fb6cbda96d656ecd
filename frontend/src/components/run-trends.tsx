/** The one curve that says most about a run, as small as a word; many runs ask for theirs at once. */
import { useQueries } from "@tanstack/react-query";

import { metricsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { curveOf } from "@/charts/live-curves";
import { Sparkline } from "@/charts/sparkline";
import { number } from "@/lib/format";

const HEADLINE_METRICS = ["reward/mean", "accuracy", "loss"] as const;
const POINTS = 60;
const LIVE_MS = 5000;
/** Of one request. */
const MOST_RUNS = 50;

/** The metric that stands for the run, if it has written any of them. */
export function headlineMetric(run: Run): string | null {
  return HEADLINE_METRICS.find((name) => name in run.summary) ?? null;
}

const isLive = (run: Run) => run.state === "running" || run.state === "stopping";

function inPages(runs: readonly Run[]): readonly (readonly Run[])[] {
  const pages = [];
  for (let from = 0; from < runs.length; from += MOST_RUNS)
    pages.push(runs.slice(from, from + MOST_RUNS));
  return pages;
}

/** The curves of these runs by run: those that go on are asked for again and again. */
export function useTrends(runs: readonly Run[]): ReadonlyMap<string, readonly (number | null)[]> {
  const withCurve = runs.filter((run) => headlineMetric(run) !== null);
  const pages = [
    ...inPages(withCurve.filter(isLive)),
    ...inPages(withCurve.filter((run) => !isLive(run))),
  ];
  return useQueries({
    queries: pages.map((page) => {
      const goesOn = page.some(isLive);
      const query = { names: [...new Set(page.map(headlineMetric))].join(","), points: POINTS };
      return {
        ...metricsQuery(
          page.map((run) => run.id),
          query,
        ),
        refetchInterval: goesOn ? LIVE_MS : (false as const),
        staleTime: goesOn ? 0 : 60_000,
      };
    }),
    combine: (answers) => {
      const headlines = new Map(withCurve.map((run) => [run.id, headlineMetric(run)]));
      const series = answers.flatMap((answer) => answer.data?.series ?? []);
      return new Map(
        series
          .filter((one) => headlines.get(one.run) === one.name)
          .map((one) => [one.run, curveOf(one).mean]),
      );
    },
  });
}

export function Trend(props: { run: Run; values: readonly (number | null)[] | undefined }) {
  return (
    <Sparkline
      values={props.values ?? []}
      label={`${headlineMetric(props.run) ?? "metric"} over the run`}
    />
  );
}

export function LastValue({ run }: { run: Run }) {
  const name = headlineMetric(run);
  if (name === null) return <span className="faint">–</span>;
  return (
    <span title={name}>
      {number(run.summary[name])} <span className="faint">{name}</span>
    </span>
  );
}
