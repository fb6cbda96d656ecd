/** The page an annotator spends the day on: a prompt, its responses and the keys that rank them. */
import "./rank.css";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { progressQuery } from "@/api/assignments";
import { Problem } from "@/api/client";
import { guidelinesQuery } from "@/api/guidelines";
import { practiceQuery } from "@/api/practice";
import { managesIn, meQuery } from "@/api/session";
import type { AnnotationProgress, User } from "@/api/types";
import { Icon } from "@/components/icons";
import { Failure, Skeleton } from "@/components/states";
import { loadLateParts } from "@/components/text/late/parts";
import { PageTitle } from "@/components/page-title";
import { number, plural } from "@/lib/format";
import { useProjectId } from "@/lib/address/use-project";

import { Comparison } from "./comparison";
import { GuidelinesGate } from "./guidelines/gate";
import { useAssignmentQueue } from "./leases/assignment-queue";
import { OfflineButtons, OfflineNotes, useOffline } from "./leases/offline/buttons";
import { useOutbox } from "./outbox/browser-outbox";
import { UnsentNotes } from "./outbox/unsent";
import { holdsLease, type Unsent } from "./outbox/unsent-item";
import { PracticeGate } from "./practice/practice-gate";
import { UseForPractice } from "./practice/use-for-practice";
import { SentWord } from "./submit/sent-word";
import { UndoLast } from "./submit/undo-last";
import { useEndOfSession } from "./submit/use-end-of-session";
import { useFlush } from "./submit/use-flush";
import { useSubmission } from "./submit/use-submission";
import { useIsThere } from "./waiting/use-is-there";
import { Waiting } from "./waiting/waiting";

const DAILY_STEP = 50;

export function RankPage() {
  const projectId = useProjectId();
  const me = useQuery(meQuery);
  // Now, not with the first formula: the network may be away by then.
  useEffect(() => void loadLateParts().catch(() => undefined), []);
  if (me.data === undefined) return <Skeleton lines={6} />;
  return (
    <>
      <PageTitle>Rank</PageTitle>
      <GuidelinesGate projectId={projectId} userId={me.data.id}>
        <PracticeGate projectId={projectId} userId={me.data.id} key={`${projectId} ${me.data.id}`}>
          <ProjectRanking projectId={projectId} user={me.data} />
        </PracticeGate>
      </GuidelinesGate>
    </>
  );
}

/** A lease is refused until the newest guidelines are read and practice is passed: the gates look. */
function useNewGuidelines(projectId: string, error: unknown) {
  const client = useQueryClient();
  useEffect(() => {
    if (!(error instanceof Problem) || error.status !== 409) return;
    void client.invalidateQueries(guidelinesQuery(projectId));
    void client.invalidateQueries(practiceQuery(projectId));
  }, [client, projectId, error]);
}

function ProjectRanking({ projectId, user }: { projectId: string; user: User }) {
  const userId = user.id;
  const isThere = useIsThere();
  const queue = useAssignmentQueue(projectId, userId, isThere);
  const { submit, skip, reopen, reopened, told } = useSubmission({ projectId, userId }, queue);
  const offline = useOffline(queue);
  useFlush(userId);
  useNewGuidelines(projectId, queue.error);
  useEndOfSession(userId, queue.error);

  // It is judged: nobody else has to judge it instead, and it needs no lease to be revised.
  const isJudged = queue.current !== undefined && queue.current.id === reopened;

  return (
    <div className="rank-page">
      <div className="rank-top">
        <h1>Rank</h1>
        <SentWord told={told} userId={userId} />
        {queue.current !== undefined && managesIn(user, projectId) && (
          <UseForPractice
            key={queue.current.id}
            projectId={projectId}
            assignment={queue.current}
            onUsed={queue.advance}
          />
        )}
        <OfflineButtons queue={queue} asked={offline} />
        <Progress projectId={projectId} userId={userId} />
      </div>
      {queue.current === undefined && <UndoLast onUndo={reopen} />}
      <OfflineNotes queue={queue} asked={offline} />
      <UnsentNotes userId={userId} />
      {queue.isCurrentLost && !isJudged && <LostNote />}
      {queue.isTaken && queue.current !== undefined && <TakenNote />}
      {queue.error !== null && (
        <Failure error={queue.error} isAsking={queue.isAskedAgain} onRetry={queue.retry} />
      )}
      {queue.isLoading && <Skeleton lines={8} label="Fetching a comparison" />}
      {queue.isExhausted && (
        <Waiting
          projectId={projectId}
          userId={userId}
          isThere={isThere}
          onLook={queue.retry}
          isLooking={queue.isLookingAgain}
          onTakeHere={() => offline.taking.mutate()}
          isTaking={offline.taking.isPending}
        />
      )}
      {queue.current !== undefined && (
        <Comparison
          page="rank"
          key={queue.current.id}
          projectId={projectId}
          assignment={queue.current}
          onReopen={reopen}
          onSubmit={submit}
          onSkip={isJudged ? null : skip}
        />
      )}
    </div>
  );
}

/** An alert, as the next one: a status that comes together with its text is not read. */
function LostNote() {
  return (
    <div className="note warn" role="alert">
      <Icon name="alert" />
      <span className="grow">
        <b>Your lease on this comparison has ended.</b> Your judgment counts if one is still wanted;
        otherwise it is kept for review.
      </span>
    </div>
  );
}

function TakenNote() {
  return (
    <div className="note" role="alert">
      <Icon name="alert" />
      <span className="grow">
        <b>This is another comparison.</b> Your lease on the one before ended while you were away.
      </span>
    </div>
  );
}

function Progress({ projectId, userId }: { projectId: string; userId: string }) {
  const { data } = useQuery(progressQuery(projectId));
  const { items } = useOutbox(userId);
  if (data === undefined || data.wanted === 0) return null;
  const isOnItsWay = (item: Unsent) => item.projectId === projectId && holdsLease(item);
  return <Numbers progress={data} onTheirWay={items.filter(isOnItsWay).length} />;
}

function Numbers(props: { progress: AnnotationProgress; onTheirWay: number }) {
  const { mine, mine_today: today, done, wanted, available, held } = props.progress;
  const left = Math.max(0, available + held - props.onTheirWay);
  const share = wanted === 0 ? 0 : (100 * Math.min(done, wanted)) / wanted;
  return (
    <>
      <span
        className="small muted nowrap today"
        title={`Since midnight, your time. ${plural(mine, "judgment")} by you in total.`}
      >
        {plural(today, "judgment")} today
        {today > 0 && today % DAILY_STEP === 0 ? ", time for a break" : ""}
      </span>
      <div
        className="bar"
        role="progressbar"
        aria-label="Judgments of the project"
        aria-valuenow={done}
        aria-valuemax={wanted}
        title={`${number(done)} of ${number(wanted)} judgments of the project`}
      >
        <i style={{ width: `${share}%` }} />
      </div>
      <span className="small muted nowrap of-project" aria-hidden="true">
        {number(done)} of {number(wanted)} in the project
      </span>
      <span className="small muted nowrap">{number(left)} left for you</span>
    </>
  );
}
