/**
 * Practice comes before comparisons that count: after each answer an annotator sees what was expected.
 * Who has passed, or need not, goes straight on.
 */
import "./practice.css";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type ReactNode } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { answerPractice, practiceQuery, tryPracticeAgain } from "@/api/practice";
import type { Assignment, PracticeState, PracticeTask } from "@/api/types";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { NoAnswer, Skeleton } from "@/components/states";
import { percent, plural } from "@/lib/format";

import { Comparison } from "../comparison";
import { dropDraft } from "../leases/drafts";
import { judgmentOf, type Ranking } from "../ranking/ranking";
import { Feedback } from "./feedback";
import { useUnread, type Unread } from "./unread";

export function PracticeGate(props: { projectId: string; userId: string; children: ReactNode }) {
  const { projectId } = props;
  const query = useQuery(practiceQuery(projectId));
  const { data: state } = query;
  const { unread, keepUnread, dropUnread } = useUnread(projectId, props.userId);
  if (state === undefined)
    return query.error === null ? (
      <Skeleton lines={6} />
    ) : (
      <div className="page">
        <NoAnswer query={query} />
      </div>
    );
  if (unread !== null) return <Feedback {...unread} onNext={dropUnread} />;
  if (!state.is_required) return props.children;
  if (state.next === null) return <TryAgain projectId={projectId} state={state} />;
  return (
    <Task
      key={state.next.comparison.id}
      projectId={projectId}
      userId={props.userId}
      state={state}
      task={state.next}
      onAnswered={keepUnread}
    />
  );
}

/** Shown as any other comparison; everybody's draft of it has a name of its own in a shared browser. */
const assignmentOf = (task: PracticeTask, attempt: number, userId: string): Assignment => ({
  ...task,
  id: `practice.${userId}.${attempt}.${task.comparison.id}`,
  expires_at: "",
});

const idsOf = (task: PracticeTask) => task.comparison.responses.map(({ id }) => id);

function Task(props: {
  projectId: string;
  userId: string;
  state: PracticeState;
  task: PracticeTask;
  onAnswered: (unread: Unread) => void;
}) {
  const { projectId, state, task } = props;
  const assignment = assignmentOf(task, state.attempt, props.userId);
  const client = useQueryClient();
  const [isStarted, setStarted] = useState(state.answered > 0);
  // The first answer counts, so no other may be shown beside what it scored.
  const hasAnswered = useRef(false);
  const answering = useMutation({
    mutationFn: (ranking: Ranking) =>
      answerPractice(projectId, task.comparison.id, {
        ...judgmentOf(ranking, idsOf(task)),
        revise: false,
      }),
    onSuccess: (feedback, ranking) => {
      dropDraft(assignment.id);
      props.onAnswered({ task, ranking, feedback });
      return showAnswer(client, practiceQuery(projectId), feedback.state);
    },
    onError: () => {
      hasAnswered.current = false;
    },
  });
  const answer = (ranking: Ranking) => {
    if (hasAnswered.current) return;
    hasAnswered.current = true;
    answering.mutate(ranking);
  };
  if (!isStarted) return <Introduction state={state} onStart={() => setStarted(true)} />;
  return (
    <div className="rank-page">
      <div className="rank-top">
        <h1>Practice</h1>
        <span className="small muted">
          {state.answered + 1} of {state.comparisons}. Practice is not counted.
        </span>
        <span className="small muted" role="status">
          {answering.isPending && "Sending…"}
        </span>
      </div>
      <Refused asked={{ ...answering, mutate: answer }} />
      <Comparison
        page="practice"
        projectId={projectId}
        assignment={assignment}
        onReopen={null}
        onSubmit={(_, ranking) => answer(ranking)}
        onSkip={null}
      />
    </div>
  );
}

function Introduction({ state, onStart }: { state: PracticeState; onStart: () => void }) {
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>{state.attempt === 1 ? "Practise first" : "Practise again"}</h1>
          <p>
            Rank {plural(state.comparisons, "comparison")} for practice. After each you see the
            expected ranking.
          </p>
        </div>
      </div>
      <section className="card padded stack">
        <p>
          You pass if you order at least {percent(state.bar)} of the pairs in the expected rankings
          as expected. Practice is not counted, and you can try again.
        </p>
        <div className="row">
          <button type="button" className="btn primary" autoFocus onClick={onStart}>
            Start practising
          </button>
        </div>
      </section>
    </div>
  );
}

function TryAgain({ projectId, state }: { projectId: string; state: PracticeState }) {
  const client = useQueryClient();
  const asked = useMutation({
    mutationFn: () => tryPracticeAgain(projectId),
    onSuccess: (fresh) => showAnswer(client, practiceQuery(projectId), fresh),
    onError: () => client.invalidateQueries(practiceQuery(projectId)),
  });
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>Not passed yet</h1>
          <p>
            You ordered {state.agreed} of {plural(state.pairs, "pair")} as expected;{" "}
            {percent(state.bar)} are needed. Read the guidelines again, then try once more.
          </p>
        </div>
      </div>
      <section className="card padded stack">
        <Refused asked={asked} />
        <div className="row">
          <PendingButton
            className="btn primary"
            isPending={asked.isPending}
            onPress={() => asked.mutate()}
          >
            <Icon name="retry" /> Try again
          </PendingButton>
          <a className="btn" href={`/projects/${projectId}/guidelines`}>
            Read the guidelines
          </a>
        </div>
      </section>
    </div>
  );
}
