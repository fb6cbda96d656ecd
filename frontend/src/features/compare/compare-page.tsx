/** Several runs: which is better, by how much, and what differs between them. */
import "./compare.css";

import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { runsByIdQuery } from "@/api/runs";
import { seedGroupsQuery } from "@/api/seed-groups";
import type { Run, SeedGroups } from "@/api/types";
import { unitOf } from "@/components/metrics/explained";
import { useExplain } from "@/components/metrics/use-explain";
import { Answer } from "@/components/seed-groups/answer";
import { Empty, Loaded, Skeleton } from "@/components/states";
import { LARGE_REFETCH_MS } from "@/components/run-list/batches";
import { useVerdicts } from "@/components/run-list/use-verdicts";
import { SavedViews } from "@/components/views/saved-views";
import { PageTitle } from "@/components/page-title";
import { useProjectId } from "@/lib/address/use-project";

import { Breakdown } from "./breakdown/breakdown";
import { ByMetric } from "./by-metric";
import { ByPeople } from "./by-people/by-people";
import { canBeJudged } from "./by-people/words";
import { CurveCards } from "./curves/curve-cards";
import { WhatDiffers } from "./differences/what-differs";
import { RewardVsKlCard } from "./reward-vs-kl/reward-vs-kl-card";
import { GroupTable } from "./group-table";
import { Results } from "./results";
import { SamePrompt } from "./same-prompt/same-prompt";
import { mayTell, useRefreshed } from "./use-refreshed";
import { countText, useView } from "./view";

export function ComparePage() {
  const projectId = useProjectId();
  const { runIds, runCount, metric, evaluatedOn, saved } = useView();
  const enabled = runIds.length > 0;
  const runs = useQuery({
    ...runsByIdQuery(runIds),
    enabled,
    placeholderData: (before) => {
      const left = before?.filter(({ id }) => runIds.includes(id)) ?? [];
      return left.length > 0 ? left : undefined;
    },
    // For progress and the names of new metrics; when one begins or ends, they are asked for soon.
    refetchInterval: ({ state }) => state.data?.some(mayTell) === true && LARGE_REFETCH_MS,
  });
  const refetchMs = useRefreshed(runIds, runs.data);
  const groups = useQuery({
    ...seedGroupsQuery(runIds, metric, evaluatedOn),
    enabled,
    // What decides, or one run more or less, leaves the answer until the next is there.
    placeholderData: (before, query) =>
      runIds.some((id) => query?.queryKey[1]?.includes(id) === true) ? before : undefined,
    refetchInterval: refetchMs,
  });
  return (
    <div className="page compare">
      <div className="page-head">
        <div>
          <PageTitle>Compare</PageTitle>
          <h1>Compare</h1>
          <p>{countText(runCount)}</p>
        </div>
        <span className="grow" />
        <SavedViews page="compare" />
        <Link className="btn" to={`/projects/${projectId}/runs`}>
          Choose runs
        </Link>
      </div>
      {saved !== null && saved.data === undefined && runIds.length === 0 ? (
        <Loaded query={saved} lines={8}>
          {() => null}
        </Loaded>
      ) : runIds.length === 0 ? (
        <section className="card">
          <Empty icon="runs" title="Nothing to compare yet">
            Choose two or more runs in the list of runs, then press Compare.
          </Empty>
        </section>
      ) : (
        <Loaded query={runs} lines={8}>
          {(found) => (
            <Loaded query={groups} lines={8}>
              {(answer) => (
                <Compared
                  runs={found}
                  answer={answer}
                  isOfBefore={groups.isPlaceholderData}
                  isOfOthers={!isOf(answer, runIds)}
                  refetchMs={refetchMs}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </div>
  );
}

/** Whether an answer is that of these runs, not of those before one was added or left out. */
function isOf({ groups, n_evaluations: n }: SeedGroups, runIds: readonly string[]): boolean {
  const grouped = groups.flatMap(({ runs }) => runs);
  return grouped.length + n === runIds.length && grouped.every((id) => runIds.includes(id));
}

function Compared(props: {
  runs: readonly Run[];
  answer: SeedGroups;
  /** Whether the answer is that of the set chosen before, or of other runs. */
  isOfBefore: boolean;
  /** Then what would be drawn by its groups waits. */
  isOfOthers: boolean;
  refetchMs: number | false;
}) {
  const { runs, answer, refetchMs } = props;
  const isOfOthers = props.isOfBefore && props.isOfOthers;
  const verdicts = useVerdicts(runs);
  // Without evaluations that measure the others.
  const inGroups = new Set(answer.groups.flatMap((group) => group.runs));
  const byId = new Map(runs.filter(({ id }) => inGroups.has(id)).map((run) => [run.id, run]));
  const { runIds, evaluatedOn, set } = useView();
  const explain = useExplain([...byId.values()][0]?.method ?? "");
  const unit =
    answer.metric === null || explain === undefined ? "" : unitOf(explain(answer.metric));
  const asChosen = runIds.flatMap((id) => byId.get(id) ?? []);
  return (
    <>
      {/* Of two runs that only sample, people decide. */}
      {(answer.metric !== null || !canBeJudged(asChosen)) && (
        <Answer
          answer={answer}
          awaited={props.isOfBefore ? (evaluatedOn ?? "") : undefined}
          onSet={(name) => set({ set: name })}
        >
          <ByMetric answer={answer} runs={byId} />
        </Answer>
      )}
      <ByPeople runs={asChosen} />
      <GroupTable answer={answer} unit={unit} runs={byId} verdicts={verdicts} />
      {isOfOthers ? (
        <Skeleton lines={8} label="Loading the comparison" />
      ) : (
        <>
          <Results answer={answer} runs={byId} refetchMs={refetchMs} />
          <RewardVsKlCard answer={answer} runs={byId} refetchMs={refetchMs} />
          <Breakdown answer={answer} runs={byId} />
          <CurveCards answer={answer} runs={byId} refetchMs={refetchMs} />
          <SamePrompt answer={answer} runs={byId} />
          <WhatDiffers answer={answer} />
        </>
      )}
    </>
  );
}
