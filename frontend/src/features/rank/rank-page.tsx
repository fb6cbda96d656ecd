/** The page an annotator spends the day on: a prompt, its responses and the keys that rank them. */
import "./rank.css";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "react-router";

import { progressQuery, skipAssignment } from "@/api/assignments";
import { Problem } from "@/api/client";
import { guidelinesQuery } from "@/api/guidelines";
import { managesIn, meQuery } from "@/api/session";
import type { AnnotationProgress, Assignment } from "@/api/types";
import { Icon } from "@/components/icons";
import { Refused } from "@/components/refused";
import { Empty, Failure, Skeleton } from "@/components/states";
import { plural } from "@/lib/format";
import { randomId } from "@/lib/random-id";
import { useProjectId } from "@/lib/use-project";
import { whenBack } from "@/lib/when-back";

import { Comparison } from "./comparison";
import { GuidelinesGate } from "./guidelines-gate";
import { useAssignmentQueue } from "./leases/assignment-queue";
import { dropDraft, keepDraft } from "./leases/drafts";
import { OfflineButtons, OfflineNotes, useOffline } from "./leases/offline-button";
import { outbox, useOutbox } from "./outbox/browser-outbox";
import { UnsentNotes } from "./outbox/unsent";
import { judgmentOf, type Ranking } from "./ranking/ranking";

const DAILY_STEP = 50;

export function RankPage() {
  const projectId = useProjectId();
  const me = useQuery(meQuery);
  if (me.data === undefined) return <Skeleton lines={6} />;
  return (
    <GuidelinesGate projectId={projectId}>
      <ProjectRanking
        key={`${projectId} ${me.data.id}`}
        projectId={projectId}
        userId={me.data.id}
      />
    </GuidelinesGate>
  );
}

/** A lease is refused until the newest guidelines are read: the gate looks at once. */
function useNewGuidelines(projectId: string, error: unknown) {
  const client = useQueryClient();
  useEffect(() => {
    if (error instanceof Problem && error.status === 409)
      void client.invalidateQueries(guidelinesQuery(projectId));
  }, [client, projectId, error]);
}

interface SubmittedJudgment {
  readonly assignment: Assignment;
  readonly ranking: Ranking;
}

/** Unsent judgments are sent again as soon as the browser is back online or the tab is looked at. */
function useSending(projectId: string, userId: string) {
  const client = useQueryClient();
  useEffect(() => {
    outbox.onSent = () => void client.invalidateQueries(progressQuery(projectId));
    const flush = () => void outbox.flush();
    void outbox.open(userId).then(flush);
    return whenBack(flush);
  }, [client, projectId, userId]);
}

/** A refused credential makes the frame around the page ask who is signed in, and offer to sign in. */
function useEndOfSession(userId: string, error: unknown) {
  const client = useQueryClient();
  const isRefused =
    useOutbox(userId).status === "signed-out" || (error instanceof Problem && error.status === 401);
  useEffect(() => {
    if (!isRefused) return;
    const ask = () => void client.invalidateQueries(meQuery);
    ask();
    // Also when it is refused no more: somebody has signed in, here or in another tab.
    return ask;
  }, [client, isRefused]);
}

function ProjectRanking({ projectId, userId }: { projectId: string; userId: string }) {
  const queue = useAssignmentQueue(projectId, userId);
  const [lastSubmitted, setLastSubmitted] = useState<SubmittedJudgment | null>(null);
  const [reopened, setReopened] = useState<string | null>(null);
  const skipping = useMutation({
    mutationFn: (skipped: { id: string; reason: string }) =>
      skipAssignment(skipped.id, skipped.reason),
  });
  const offline = useOffline(queue);
  useSending(projectId, userId);
  useNewGuidelines(projectId, queue.error);
  useEndOfSession(userId, queue.error);

  const submit = (assignment: Assignment, ranking: Ranking, activeMs: number) => {
    const ids = assignment.comparison.responses.map((response) => response.id);
    const revise = assignment.id === reopened;
    const body = { ...judgmentOf(ranking, ids), active_ms: Math.round(activeMs), revise };
    const sent = { assignmentId: assignment.id, projectId, userId, key: randomId(), body };
    if (!outbox.add(sent)) return;
    dropDraft(assignment.id);
    setLastSubmitted({ assignment, ranking });
    queue.advance();
  };
  const reopen = () => {
    if (lastSubmitted === null) return;
    keepDraft(lastSubmitted.assignment.id, lastSubmitted.ranking);
    setReopened(lastSubmitted.assignment.id);
    queue.reopen(lastSubmitted.assignment);
    setLastSubmitted(null);
  };
  const skip = (assignment: Assignment, reason: string) => {
    dropDraft(assignment.id);
    queue.advance();
    skipping.mutate({ id: assignment.id, reason });
  };

  return (
    <div className="rank-page">
      <div className="rank-top">
        <h1>Rank</h1>
        <span className="grow" />
        <OfflineButtons queue={queue} asked={offline} />
        <Progress projectId={projectId} />
      </div>
      <OfflineNotes queue={queue} asked={offline} />
      <UnsentNotes userId={userId} />
      {queue.isCurrentLost && <LostNote />}
      <Refused asked={skipping} />
      {queue.error !== null && <Failure error={queue.error} onRetry={queue.retry} />}
      {queue.isLoading && <Skeleton lines={8} label="Fetching a comparison" />}
      {queue.isExhausted && (
        <Done projectId={projectId} onRetry={queue.retry} onReopen={lastSubmitted && reopen} />
      )}
      {queue.current !== undefined && (
        <Comparison
          key={queue.current.id}
          projectId={projectId}
          assignment={queue.current}
          onReopen={lastSubmitted === null ? null : reopen}
          onSubmit={submit}
          onSkip={skip}
        />
      )}
    </div>
  );
}

function LostNote() {
  return (
    <div className="note warn" role="status">
      <Icon name="alert" />
      <span className="grow">
        <b>Your lease on this comparison has ended.</b> Your judgment counts if one is still wanted;
        otherwise it is kept for review.
      </span>
    </div>
  );
}

function Done(props: { projectId: string; onRetry: () => void; onReopen: (() => void) | null }) {
  const progress = useQuery(progressQuery(props.projectId));
  const me = useQuery(meQuery);
  const isUnused = progress.data?.wanted === 0;
  const isManager = me.data !== undefined && managesIn(me.data, props.projectId);
  return (
    <section className="card">
      <Empty
        icon={isUnused ? "rank" : "check"}
        title={
          isUnused ? "There is nothing to rank yet" : "All done: no comparison is left for you"
        }
        actions={
          <>
            {isUnused && isManager && (
              <Link className="btn primary" to={`/projects/${props.projectId}/data/import`}>
                Import comparisons
              </Link>
            )}
            {!isUnused && isManager && (
              <Link className="btn primary" to={`/projects/${props.projectId}/data/agreement`}>
                See how annotators agree
              </Link>
            )}
            <button type="button" className="btn" onClick={props.onRetry}>
              Check again
            </button>
            {props.onReopen !== null && (
              <button type="button" className="btn ghost" onClick={props.onReopen}>
                Reopen last comparison
              </button>
            )}
          </>
        }
      >
        {isUnused && isManager
          ? "Comparisons come from an import, or from a generate run that samples several responses to each prompt."
          : "Press Check again to look for new comparisons."}
      </Empty>
    </section>
  );
}

function Progress({ projectId }: { projectId: string }) {
  const { data } = useQuery(progressQuery(projectId));
  return data !== undefined && data.wanted > 0 ? <Numbers progress={data} /> : null;
}

function Numbers({ progress }: { progress: AnnotationProgress }) {
  const { mine, mine_today: today, done, wanted, available } = progress;
  const share = wanted === 0 ? 0 : (100 * Math.min(done, wanted)) / wanted;
  return (
    <>
      <span className="small muted nowrap" title={`${plural(mine, "judgment")} by you in total`}>
        {plural(today, "judgment")} today
        {today > 0 && today % DAILY_STEP === 0 ? ", time for a break" : ""}
      </span>
      <div
        className="bar"
        role="progressbar"
        aria-label="Judgments of the project"
        aria-valuenow={done}
        aria-valuemax={wanted}
        title={`${done} of ${wanted} judgments of the project`}
      >
        <i style={{ width: `${share}%` }} />
      </div>
      <span className="small muted nowrap">{available} left for you</span>
    </>
  );
}
