/** What each group paid for its reward: both on one picture, joined in the order of time. */
import { useQueries, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery, type GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroups, Series } from "@/api/types";
import { curveOf } from "@/charts/live-curves";
import { RewardVsKl, useActions } from "@/charts/reward-vs-kl/reward-vs-kl";
import type { Path, PathPoint } from "@/charts/reward-vs-kl/path";
import { ChartMenu } from "@/components/chart/chart-menu";
import { Choice } from "@/components/form/choice";
import { KlScale } from "@/components/metrics/kl-scale";
import { Failure, Skeleton } from "@/components/states";
import { CostMeasuredApart, MeasuredApart } from "@/features/compare/measured-apart";
import { SAME_PROMPT_ID } from "@/features/compare/same-prompt/same-prompt";
import { useView } from "@/features/compare/view";
import { namesApart, partOfGroups } from "@/features/compare/whose";
import { kindAt, samplesAt } from "@/lib/address/samples";
import { useGo } from "@/lib/address/use-go";

import { chosenOf, isGold, measuresOf, missingMeasures, type Measure } from "./measures";
import { pathsOf, whoseOf, type Known } from "./paths";

const POINTS = 300;
const HEIGHT = 360;

interface Shared {
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
  readonly refetchMs: number | false;
}

const namesOf = ({ name, costs }: Measure) =>
  [name, `${name}_low`, `${name}_high`, ...costs].join(",");

const ofGroups = (runIds: readonly string[], { name, costs }: Measure, exact = false) =>
  [name, ...costs].map((one) =>
    groupCurvesQuery(runIds, one, { x: "step", points: POINTS, exact }),
  );

function knownOf(runs: readonly Series[], groups: readonly GroupCurve[]): Known {
  const series = new Map(runs.map((one) => [`${one.run} ${one.name}`, curveOf(one)]));
  return {
    runs: (run, metric) => series.get(`${run} ${metric}`),
    groups: (place, metric) => groups.find((one) => one.group === place && one.name === metric),
  };
}

function useKnown(measure: Measure, refetchInterval: number | false) {
  const { runIds } = useView();
  const asked = metricsQuery(runIds, { names: namesOf(measure), points: POINTS });
  const runs = useQuery({ ...asked, refetchInterval });
  const groups = useQueries({
    queries: ofGroups(runIds, measure).map((one) => ({ ...one, refetchInterval })),
  });
  const items = groups.flatMap((one) => one.data ?? []);
  const known = knownOf(runs.data?.series ?? [], items);
  const all = [runs, ...groups];
  const failed = all.filter((one) => one.error !== null);
  const retry = () => failed.forEach((one) => void one.refetch());
  return {
    known,
    error: failed[0]?.error ?? null,
    isAskedAgain: failed.some((one) => one.isFetching),
    isLoaded: all.every((one) => one.data !== undefined),
    retry,
  };
}

/** The same, to the last digit. */
async function exactlyKnown(client: QueryClient, runIds: readonly string[], measure: Measure) {
  const now = { staleTime: 0, gcTime: 0 };
  const query = { names: namesOf(measure), points: POINTS, exact: true };
  const [runs, ...groups] = await Promise.all([
    client.fetchQuery({ ...metricsQuery(runIds, query), ...now }),
    ...ofGroups(runIds, measure, true).map((one) => client.fetchQuery({ ...one, ...now })),
  ]);
  return knownOf(runs.series, groups.flat());
}

function NotRecorded({ runs }: { runs: readonly Run[] }) {
  const missing = missingMeasures(runs);
  if (missing.length === 0) return null;
  return (
    <p className="small muted missing">
      Not recorded by these runs:{" "}
      {missing.map(({ title, name }) => `${title} (${name})`).join(", ")}.
      {missing.some(isGold) && (
        <>
          {" "}
          Gold measures come from outside the runs: attach them with{" "}
          <code>POST /runs/ID/metrics</code>; <i>By people</i>, where two generate runs are
          compared, attaches the win rate that people gave.
        </>
      )}
      {!missing.every(isGold) &&
        " The held-out reward needs held-out prompts: set “Held out, %” above 0 when you freeze the snapshot."}
    </p>
  );
}

interface DrawnProps extends Shared {
  readonly measure: Measure;
  /** What stands above the picture, with its menu. */
  readonly head: (menu: ReactNode) => ReactNode;
}

function Drawn({ measure, answer, runs, refetchMs, head }: DrawnProps) {
  const { runIds, hidden, isRoot, set } = useView();
  const go = useGo();
  const client = useQueryClient();
  const [problem, setProblem] = useState<unknown>(null);
  const { known, error, isAskedAgain, isLoaded, retry } = useKnown(measure, refetchMs);
  const names = namesApart([...runs.values()]);
  const nameOf = (run: string) => names.get(run) ?? run;
  const drawn = (found: Known) => pathsOf(answer.groups, hidden, measure, found, nameOf);
  const paths = drawn(known);
  const shown = {
    of: [whoseOf(answer.groups, paths, nameOf)],
    apart: partOfGroups(answer.groups),
    ...{ paths, isRoot, reward: measure.title },
  };
  const { menu, drawnWith } = useActions(shown, async () =>
    drawn(await exactlyKnown(client, runIds, measure)),
  );
  const pick = ({ id, isEvaluated }: Path, { step }: PathPoint) => {
    const run = runs.get(id);
    if (run !== undefined)
      return void go(
        samplesAt(`/projects/${run.project_id}/runs/${id}`, step, kindAt(isEvaluated)),
      );
    // The mean of several runs has no samples of its own: theirs stand side by side.
    set({ at: String(step) });
    document.getElementById(SAME_PROMPT_ID)?.scrollIntoView({ block: "start" });
  };
  const body = () => {
    // What came last stays while a refetch fails.
    if (error !== null && !isLoaded)
      return <Failure error={error} isAsking={isAskedAgain} onRetry={retry} />;
    if (paths.length === 0 && !isLoaded) return <Skeleton label="Loading reward and KL" />;
    if (paths.length === 0)
      return (
        <p className="small muted missing">
          {measure.name} and a KL were not measured at the same steps, or all runs are hidden.
        </p>
      );
    return (
      <RewardVsKl
        {...drawnWith}
        paths={paths}
        isRoot={isRoot}
        height={HEIGHT}
        reward={measure.title}
        caption="In a group of three or more seeds, large marks are the mean (from ten seeds on the IQM) with its 95 % interval, and small marks are its runs. In smaller groups every mark is a run. Click a point to read its samples."
        onPick={pick}
      />
    );
  };
  return (
    <>
      {head(
        paths.length > 0 && <ChartMenu {...menu} title="Reward vs KL" onProblem={setProblem} />,
      )}
      {body()}
      {problem !== null && <Failure error={problem} />}
    </>
  );
}

/** Nothing for runs without a KL: their numbers have no price. */
export function RewardVsKlCard(props: Shared) {
  const { measure, isRoot, set } = useView();
  const runs = [...props.runs.values()];
  const measures = measuresOf(runs);
  const chosen = chosenOf(measures, measure ?? props.answer.metric);
  if (chosen === undefined) return null;
  return (
    <section className="card chart reward-vs-kl-card" aria-label="Reward vs KL">
      <Drawn
        measure={chosen}
        {...props}
        head={(menu) => (
          <>
            <div className="row">
              <h3>Reward vs KL</h3>
              <span className="grow" />
              <KlScale isRoot={isRoot} onChange={(kl) => set({ kl })} />
              <Choice
                label="Reward"
                value={chosen.name}
                options={measures.map(({ name, title }) => [name, title] as const)}
                onChange={(name) => set({ measure: name })}
              />
              {menu}
            </div>
            <MeasuredApart metric={chosen.name} answer={props.answer} />
            <CostMeasuredApart costs={chosen.costs} answer={props.answer} />
          </>
        )}
      />
      <NotRecorded runs={runs} />
    </section>
  );
}
