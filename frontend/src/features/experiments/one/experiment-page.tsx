/** One experiment: its question, what its runs answer by their seeds, and what is concluded. */
import "@/features/experiments/experiments.css";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useParams } from "react-router";

import { experimentQuery } from "@/api/experiments";
import { runsByIdQuery } from "@/api/runs";
import { seedGroupsQuery } from "@/api/seed-groups";
import { managesIn, meQuery } from "@/api/session";
import type { Experiment, Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { EVALUATIONS_REFETCH_MS, mayTell, OTHERS_REFETCH_MS } from "@/components/run-list/batches";
import { Answer } from "@/components/seed-groups/answer";
import { EmptyCard, Loaded } from "@/components/states";
import { Markdown } from "@/components/text/markdown";
import { number } from "@/lib/format";

import { ExperimentForm } from "./experiment-form";
import { ExperimentHead, NewRunLink } from "./experiment-head";
import { AddRunsDialog } from "./add-runs-dialog";
import { useChosenSet } from "./chosen-set";
import { ResultsCard } from "./results-card";
import { RunsCard } from "./runs-card";

function Texts({ experiment }: { experiment: Experiment }) {
  const { question, hypothesis, conclusion } = experiment;
  return (
    <section className="card padded texts" aria-label="Question">
      <p className="question" dir="auto">
        {question || <span className="faint">No question is written down yet.</span>}
      </p>
      {hypothesis !== "" && (
        <p className="muted" dir="auto">
          <b>Hypothesis.</b> {hypothesis}
        </p>
      )}
      {conclusion !== "" && (
        <div className="concluded">
          <h2>Conclusion</h2>
          <Markdown text={conclusion} />
        </div>
      )}
    </section>
  );
}

function AnswerOf(props: { experiment: Experiment; refetchMs: number | false }) {
  const { experiment, refetchMs } = props;
  const [set, choose] = useChosenSet();
  const groups = useQuery({
    ...seedGroupsQuery(experiment.run_ids, null, set),
    // The answer of other runs stays until that of these is there; that of another set does not.
    placeholderData: (before, asked) => (asked?.queryKey[4] === set ? before : undefined),
    refetchInterval: refetchMs,
  });
  return (
    <Loaded query={groups} lines={3}>
      {(answer) => <Answer answer={answer} onSet={choose} />}
    </Loaded>
  );
}

function LeftOut({ experiment }: { experiment: Experiment }) {
  const { run_count: count, archived_run_count: archived, run_ids: shown } = experiment;
  const parts = [
    ...(count > shown.length
      ? [`The newest ${number(shown.length)} of ${number(count)} runs are compared here.`]
      : []),
    ...(archived > 0
      ? [`${number(archived)} archived ${archived === 1 ? "run is" : "runs are"} left out.`]
      : []),
  ];
  if (parts.length === 0) return null;
  return (
    <div className="note">
      <Icon name="note" /> {parts.join(" ")}
    </div>
  );
}

const NO_RUNS: readonly Run[] = [];

/** Asks again for what runs answer together when one is in another state: its end counts, too. */
function useAnswersToStates(runs: readonly Run[] = NO_RUNS): void {
  const client = useQueryClient();
  const before = useRef<ReadonlyMap<string, Run["state"]>>(new Map());
  useEffect(() => {
    const hasMoved = runs.some(({ id, state }) => (before.current.get(id) ?? state) !== state);
    before.current = new Map(runs.map(({ id, state }) => [id, state]));
    if (!hasMoved) return;
    void client.invalidateQueries({ queryKey: ["seed-groups"] });
    void client.invalidateQueries({ queryKey: ["results"] });
  }, [client, runs]);
}

function Runs({ experiment, mayChange }: { experiment: Experiment; mayChange: boolean }) {
  const [isAdding, setAdding] = useState(false);
  const runIds = experiment.run_ids;
  const runs = useQuery({
    ...runsByIdQuery(runIds),
    enabled: runIds.length > 0,
    // When one is removed, the others stay where they are.
    placeholderData: (before) => {
      const left = before?.filter(({ id }) => runIds.includes(id)) ?? [];
      return left.length > 0 ? left : undefined;
    },
    refetchInterval: ({ state }) =>
      state.data?.some(mayTell) === true ? EVALUATIONS_REFETCH_MS : OTHERS_REFETCH_MS,
  });
  // What is at work changes the answer, too.
  const refetchMs = runs.data?.some(mayTell) === true && EVALUATIONS_REFETCH_MS;
  useAnswersToStates(runs.data);
  const add = mayChange && (
    <button type="button" className="btn" onClick={() => setAdding(true)}>
      <Icon name="plus" /> Add runs
    </button>
  );
  const byAge = (found: readonly Run[]) =>
    [...found].sort((a, b) => runIds.indexOf(a.id) - runIds.indexOf(b.id));
  return (
    <>
      <LeftOut experiment={experiment} />
      {runIds.length === 0 ? (
        <EmptyCard
          icon="runs"
          title="No runs yet"
          actions={
            mayChange && (
              <>
                <NewRunLink experiment={experiment} isMain />
                {add}
              </>
            )
          }
        >
          {mayChange
            ? "Start runs here, or add existing runs."
            : "Runs appear here when a researcher of this project starts them for this experiment or adds them to it."}{" "}
          Three seeds of each setting are needed before a difference between settings can be told
          from chance.
        </EmptyCard>
      ) : (
        <>
          <AnswerOf experiment={experiment} refetchMs={refetchMs} />
          <ResultsCard experiment={experiment} refetchMs={refetchMs} />
          <Loaded query={runs} lines={6}>
            {(found) => (
              <RunsCard
                experiment={experiment}
                runs={byAge(found)}
                add={add}
                mayChange={mayChange}
              />
            )}
          </Loaded>
        </>
      )}
      {isAdding && <AddRunsDialog experiment={experiment} onClose={() => setAdding(false)} />}
    </>
  );
}

function Shown({ experiment }: { experiment: Experiment }) {
  const me = useQuery(meQuery).data;
  const [isEditing, setEditing] = useState(false);
  const mayChange = me !== undefined && managesIn(me, experiment.project_id);
  return (
    <div className="page experiment-page" ref={keepFocus}>
      <ExperimentHead
        experiment={experiment}
        mayChange={mayChange}
        isEditing={isEditing}
        onEdit={() => setEditing(true)}
      />
      <div className="stack">
        {isEditing ? (
          <ExperimentForm experiment={experiment} onClose={() => setEditing(false)} />
        ) : (
          <Texts experiment={experiment} />
        )}
        <Runs experiment={experiment} mayChange={mayChange} />
        {!isEditing && experiment.notes !== "" && (
          <section className="card padded" aria-label="Notes">
            <h2>Notes</h2>
            <Markdown text={experiment.notes} />
          </section>
        )}
      </div>
    </div>
  );
}

export function ExperimentPage() {
  const { experimentId = "" } = useParams();
  // Somebody else may start runs for it.
  const query = useQuery({
    ...experimentQuery(experimentId),
    refetchInterval: OTHERS_REFETCH_MS,
  });
  return (
    <Loaded query={query} lines={10}>
      {(experiment) => <Shown key={experiment.id} experiment={experiment} />}
    </Loaded>
  );
}
