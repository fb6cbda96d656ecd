/** The one curve that says most about a run, as small as a word; many runs ask for theirs at once. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { methodsQuery, metricsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { curveOf, type Curve } from "@/charts/live-curves";
import { batches, isLive, STEPS_REFETCH_MS, unanswered } from "@/components/run-list/batches";
import { Sparkline } from "@/charts/sparkline";
import { between, number } from "@/lib/format";

import {
  candidates,
  FAILED,
  curvesAsked,
  headlineOf,
  headlinesOf,
  madeBy,
  trendRange,
  type Standing,
} from "../metrics/headline";

const POINTS = 60;

type Curves = Map<string, Curve>;

/** What stands for each of these runs: those that go on are asked for again and again. */
export function useTrends(runs: readonly Run[]): ReadonlyMap<string, Standing> {
  const { headlines, hasFailed } = useHeadlines();
  const withCurve = runs.filter((run) => hasFailed || candidates(run, headlines).length > 0);
  return useTrendsOf(batches(withCurve), STEPS_REFETCH_MS);
}

/** What the service says of methods: without it a run's curves would be asked for in part. */
function useHeadlines() {
  const { data, isError } = useQuery(methodsQuery);
  const headlines = useMemo(() => headlinesOf(data?.methods ?? []), [data]);
  return { headlines, isKnown: data !== undefined, hasFailed: isError && data === undefined };
}

/** The same, with a request for each of these pages; `refreshMs` null: none is asked for again. */
export function useTrendsOf(
  pages: readonly (readonly Run[])[],
  refreshMs: number | null,
): ReadonlyMap<string, Standing> {
  const { headlines, isKnown, hasFailed } = useHeadlines();
  const hasCurve = (run: Run) => isKnown && candidates(run, headlines).length > 0;
  const withCurve = pages.flat().filter(hasCurve);
  const asked = pages.map((page) => page.filter(hasCurve)).filter((page) => page.length > 0);
  const found = useQueries({
    queries: asked.map((page) => {
      const goesOn = refreshMs !== null && page.some(isLive);
      const names = new Set(page.flatMap((run) => curvesAsked(run, headlines)));
      return {
        ...metricsQuery(
          page.map((run) => run.id),
          { names: [...names].join(","), points: POINTS },
        ),
        refetchInterval: goesOn ? refreshMs : (false as const),
        staleTime: goesOn ? 0 : 60_000,
      };
    }),
    combine: (answers) => {
      const curves = new Map<string, Curves>(withCurve.map((run) => [run.id, new Map()]));
      for (const one of answers.flatMap((answer) => answer.data?.series ?? []))
        curves.get(one.run)?.set(one.name, curveOf(one));
      const unknown = new Set(unanswered(asked, answers));
      const found = withCurve.flatMap((run): [string, Standing][] => {
        if (unknown.has(run)) return [[run.id, FAILED]];
        const headline = headlineOf(run, curves.get(run.id) ?? new Map(), headlines);
        return headline === null ? [] : [[run.id, headline]];
      });
      return new Map(found);
    },
  });
  const measured = pages.flat().filter((run) => Object.keys(run.summary).length > 0);
  return hasFailed ? new Map(measured.map((run) => [run.id, FAILED])) : found;
}

export function Trend({ headline }: { headline: Standing | undefined }) {
  if (headline === FAILED) return <span className="faint small">curve did not load</span>;
  if (headline === undefined) return <Sparkline values={[]} label="metric over the run" />;
  return (
    <Sparkline
      values={headline.values}
      range={trendRange(headline)}
      label={`${headline.title} over the run`}
    />
  );
}

/** The newest value of the metric that stands for a run, with its interval, or what it has made. */
export function LastValue({ run, headline }: { run: Run; headline: Standing | undefined }) {
  if (headline === undefined || headline === FAILED)
    return <span className="faint">{madeBy(run) ?? "–"}</span>;
  return (
    <span title={headline.interval === null ? headline.name : `${headline.name}, 95 % interval`}>
      {number(run.summary[headline.name])}{" "}
      {headline.interval !== null && (
        <span className="small muted nowrap">{between(headline.interval)} </span>
      )}
      <span className="faint of-what">{headline.title}</span>
    </span>
  );
}
