/** What each group paid for its reward: both on one picture, joined in the order of time. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery } from "@/api/seed-groups";
import type { Run, SeedGroups } from "@/api/types";
import { curveOf } from "@/charts/live-curves";
import { RewardVsKl } from "@/charts/reward-vs-kl";
import type { Path, PathPoint } from "@/charts/reward-vs-kl-path";
import { Segmented } from "@/components/segmented";
import { Failure } from "@/components/states";
import { MeasuredApart } from "@/features/compare/measured-apart";
import { SAME_PROMPT_ID } from "@/features/compare/same-prompt/same-prompt";
import { useView } from "@/features/compare/view";

import { measuresOf, missingMeasures, type Measure } from "./measures";
import { pathsOf, type Known } from "./paths";

const POINTS = 300;
const HEIGHT = 360;

interface Shared {
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
  readonly refetchMs: number | false;
}

function useKnown({ name, costs }: Measure, refetchInterval: number | false) {
  const { runIds } = useView();
  const names = [name, `${name}_low`, `${name}_high`, ...costs].join(",");
  const runs = useQuery({ ...metricsQuery(runIds, { names, points: POINTS }), refetchInterval });
  const groups = useQueries({
    queries: [name, ...costs].map((one) => ({
      ...groupCurvesQuery(runIds, one, { x: "step", points: POINTS }),
      refetchInterval,
    })),
  });
  const series = new Map(
    (runs.data?.series ?? []).map((one) => [`${one.run} ${one.name}`, curveOf(one)]),
  );
  const items = groups.flatMap((one) => one.data?.items ?? []);
  const known: Known = {
    runs: (run, metric) => series.get(`${run} ${metric}`),
    groups: (place, metric) => items.find((one) => one.group === place && one.name === metric),
  };
  const error = runs.error ?? groups.find((one) => one.error !== null)?.error ?? null;
  return { known, error };
}

function Missing({ runs }: { runs: readonly Run[] }) {
  const missing = missingMeasures(runs);
  if (missing.length === 0) return null;
  return (
    <p className="small muted missing">
      Not recorded by these runs:{" "}
      {missing.map(({ title, name }) => `${title} (${name})`).join(", ")}. Attach what was measured
      outside the runs with <code>POST /runs/ID/metrics</code>; <i>By people</i>, where two generate
      runs are compared, attaches the win rate that people gave.
    </p>
  );
}

function Picture({ measure, answer, runs, refetchMs }: Shared & { measure: Measure }) {
  const { hidden, isRoot, set } = useView();
  const navigate = useNavigate();
  const { known, error } = useKnown(measure, refetchMs);
  const nameOf = (run: string) => runs.get(run)?.name ?? run;
  const paths = pathsOf(answer.groups, hidden, measure, known, nameOf);
  const pick = ({ id }: Path, { step }: PathPoint) => {
    const run = runs.get(id);
    if (run !== undefined)
      return void navigate(`/projects/${run.project_id}/runs/${id}/samples?step=${step}`);
    // The mean of several runs has no samples of its own: theirs stand side by side.
    set({ at: String(step) });
    document.getElementById(SAME_PROMPT_ID)?.scrollIntoView({ block: "start" });
  };
  if (error !== null) return <Failure error={error} />;
  if (paths.length === 0)
    return (
      <p className="small muted missing">
        {measure.name} and a KL were not measured at the same steps, or all runs are hidden.
      </p>
    );
  return (
    <RewardVsKl
      paths={paths}
      isRoot={isRoot}
      height={HEIGHT}
      reward={measure.title}
      caption="In a group of three or more seeds, large marks are the mean (from ten seeds on the IQM) with its 95 % interval, and small marks are its runs. In smaller groups every mark is a run. Click a point to read its samples."
      onPick={pick}
    />
  );
}

/** Nothing for runs without a KL: their numbers have no price. */
export function Frontier(props: Shared) {
  const { measure, isRoot, set } = useView();
  const runs = [...props.runs.values()];
  const measures = measuresOf(runs);
  const chosen =
    measures.find(({ name }) => name === (measure ?? props.answer.metric)) ?? measures[0];
  if (chosen === undefined) return null;
  return (
    <section className="card chart" aria-label="Reward vs KL">
      <div className="row">
        <h3>Reward vs KL</h3>
        <span className="grow" />
        <Segmented
          label="KL scale"
          value={isRoot ? "root" : "nats"}
          options={[
            ["nats", "KL"],
            ["root", "√KL"],
          ]}
          onChange={(value) => set({ kl: value === "root" ? value : null })}
        />
        <Segmented
          label="Reward"
          value={chosen.name}
          options={measures.map(({ name, title }) => [name, title] as const)}
          onChange={(name) => set({ measure: name })}
        />
      </div>
      <MeasuredApart metric={chosen.name} answer={props.answer} />
      <Picture measure={chosen} {...props} />
      <Missing runs={runs} />
    </section>
  );
}
