/** Reward vs KL: what the reward costs in KL, and what it does to the responses. */
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { metricsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { curveOf, type LiveCurves, type Zoom } from "@/charts/live-curves";
import { RewardVsKl, useActions } from "@/charts/reward-vs-kl/reward-vs-kl";
import { ChartMenu } from "@/components/chart/chart-menu";
import { useExplain } from "@/components/metrics/use-explain";
import { KlScale } from "@/components/metrics/kl-scale";
import { zoomParam } from "@/components/chart/window";
import { Empty, Failure, Skeleton } from "@/components/states";
import { onAxis, useView } from "@/features/run/view";
import { partsOfRun } from "@/lib/files/file-name";
import { kindAt, samplesAt } from "@/lib/address/samples";
import { useGo } from "@/lib/address/use-go";
import { trainingReward } from "@/components/metrics/training-reward";

import { useSaid } from "../verdict/use-verdict";
import { CurveCard } from "./chart/curve-card";
import { rangeOf } from "./layout";
import { useMarkers } from "./markers/use-markers";
import { alsoOf, captionOf, namesOf, NOTHING, pathsOf, shownOf } from "./reward-vs-kl-paths";

const BESIDE = [
  ["reward/mean", "--s1"],
  ["kl/response", "--s2"],
  ["length/mean", "--s3"],
] as const;

/** As many buckets as the charts have, so that the file has the points that are drawn. */
const POINTS = 1000;

async function exactPaths(client: QueryClient, run: Run, live: LiveCurves, asked: string | null) {
  const also = shownOf(run, live.curves, asked);
  const names = namesOf(run, live.curves, also).join(",");
  const query = metricsQuery([run.id], { names, points: POINTS, exact: true });
  const { series } = await client.fetchQuery({ ...query, staleTime: 0, gcTime: 0 });
  return pathsOf(run, new Map(series.map((one) => [one.name, curveOf(one)])), also);
}

const REWARD = "Reward";

interface RewardVsKlTabProps {
  readonly run: Run;
  readonly live: LiveCurves;
  readonly tick: number;
  readonly isLoaded: boolean;
}

interface AlsoChoiceProps {
  readonly run: Run;
  readonly curves: LiveCurves["curves"];
  readonly asked: string | null;
  readonly onChange: (name: string) => void;
}

/** What is drawn beside the run's rewards; nothing to choose where only they were measured. */
function AlsoChoice({ run, curves, asked, onChange }: AlsoChoiceProps) {
  const also = alsoOf(run, curves);
  if (also.length === 0) return null;
  return (
    <select
      className="input"
      aria-label="Drawn beside the rewards"
      value={shownOf(run, curves, asked)}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value={NOTHING}>rewards only</option>
      {also.map(({ name, title }) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

export function RewardVsKlTab({ run, live, tick, isLoaded }: RewardVsKlTabProps) {
  const { view: asked, search, set } = useView();
  const view = onAxis(asked, "step");
  const go = useGo();
  const explain = useExplain(run.method);
  const { saidOf } = useSaid(run);
  const markers = useMarkers(run.id, live, tick, explain);
  const isRoot = search.get("kl") === "root";
  const asks = search.get("measure");
  const base = `/projects/${run.project_id}/runs/${run.id}`;
  const client = useQueryClient();
  const [problem, setProblem] = useState<unknown>(null);
  // Curves that the tab beside it has left may lie on another axis.
  const paths = live.axis === "step" ? pathsOf(run, live.curves, asks) : [];
  const actions = useActions({ of: partsOfRun(run), paths, isRoot, reward: REWARD }, () =>
    exactPaths(client, run, live, asks),
  );
  // A part of the steps is a part of the charts by step alone.
  const onZoom = (zoom: Zoom) =>
    (zoom !== null || asked.axis === "step") && set({ x: null, zoom: zoomParam(zoom) });
  const isMissing = paths.every((path) => path.points.length === 0);
  if (isMissing && (live.axis !== "step" || !isLoaded))
    return <Skeleton label="Loading the curves" />;
  if (isMissing)
    return (
      <section className="card">
        <Empty icon="runs" title="No reward and KL to compare">
          This chart needs a reward and a KL of the same step: from training {trainingReward([run])}{" "}
          and kl/response, or from evaluations eval/reward and kl/exact. With kl.coef 0 training
          measures no KL; only evaluations on held-out prompts do.
        </Empty>
      </section>
    );
  const beside =
    explain === undefined
      ? []
      : BESIDE.flatMap(([name, colour]) => {
          const curve = live.curves.get(name);
          if (curve === undefined) return [];
          return [{ colour, drawn: { explained: explain(name), curve, low: null, high: null } }];
        });
  return (
    <>
      <h2 className="sr-only">Reward vs KL</h2>
      <div className="reward-vs-kl-grid">
        <section className="card chart">
          <header>
            <div className="row">
              <h3>Reward vs KL</h3>
              <span className="grow" />
              <KlScale isRoot={isRoot} onChange={(kl) => set({ kl })} />
              <AlsoChoice
                run={run}
                curves={live.curves}
                asked={asks}
                onChange={(measure) => set({ measure })}
              />
              <ChartMenu {...actions.menu} title="Reward vs KL" onProblem={setProblem} />
            </div>
          </header>
          <RewardVsKl
            {...actions.drawnWith}
            paths={paths}
            isRoot={isRoot}
            height={480}
            reward={REWARD}
            caption={captionOf(paths)}
            onPick={({ isEvaluated }, { step }) =>
              void go(samplesAt(base, step, kindAt(isEvaluated)))
            }
          />
          {problem !== null && <Failure error={problem} />}
        </section>
        <div className="beside">
          {beside.map(({ drawn, colour }) => (
            <CurveCard
              key={drawn.explained.name}
              drawn={drawn}
              run={run}
              tick={tick}
              view={view}
              markers={markers.shown}
              saidOf={saidOf}
              range={rangeOf(beside.map((one) => one.drawn))}
              colour={colour}
              height={146}
              onZoom={onZoom}
            />
          ))}
        </div>
      </div>
    </>
  );
}
