/** A judgment of one's own on the page that ranks, with the same keys: what is sent replaces it. */
import "./rank.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";

import { ownJudgmentQuery } from "@/api/judgments";
import { meQuery } from "@/api/session";
import type { Assignment, OwnJudgment } from "@/api/types";
import { EmptyCard, Loaded, Skeleton } from "@/components/states";
import { isText, read, remove, write } from "@/lib/storage";
import { useProjectId } from "@/lib/use-project";

import { Comparison } from "./comparison";
import { dropDraft, keepDraft } from "./leases/drafts";
import { UnsentNotes } from "./outbox/unsent";
import { outbox } from "./outbox/browser-outbox";
import { rankingOf, wordsOf, type Ranking } from "./ranking/ranking";
import { useSending } from "./submit/use-sending";
import { put } from "./submit/use-submission";

/** The judgment that this tab revises. */
const REVISING = "podium.revising";

export function RevisePage() {
  const projectId = useProjectId();
  const { assignmentId = "" } = useParams();
  const me = useQuery(meQuery);
  const judgment = useQuery(ownJudgmentQuery(projectId, assignmentId));
  if (me.data === undefined) return <Skeleton lines={6} />;
  return (
    <div className="rank-page">
      <div className="rank-top">
        <h1>Revise</h1>
        <span className="grow" />
        <Link
          className="btn ghost"
          to={`/projects/${projectId}/mine`}
          onClick={() => {
            remove(sessionStorage, REVISING);
            dropDraft(assignmentId);
          }}
        >
          Back without a change
        </Link>
      </div>
      <UnsentNotes userId={me.data.id} />
      <Loaded query={judgment} lines={8}>
        {(found) =>
          found === null ? (
            <Missing projectId={projectId} />
          ) : (
            <Revision key={found.id} projectId={projectId} userId={me.data.id} judgment={found} />
          )
        }
      </Loaded>
    </div>
  );
}

function Missing({ projectId }: { projectId: string }) {
  return (
    <EmptyCard
      icon="note"
      title="You have no judgment here"
      actions={
        <Link className="btn primary" to={`/projects/${projectId}/mine`}>
          Your judgments
        </Link>
      }
    >
      It may belong to another person or another project.
    </EmptyCard>
  );
}

/** The comparison as it was shown; it is no lease any more. */
const assignmentOf = (judgment: OwnJudgment): Assignment => ({
  id: judgment.assignment_id,
  comparison: judgment.comparison,
  criteria: judgment.rankings.map(({ criterion, question }) => ({ name: criterion, question })),
  presented_order: judgment.comparison.responses.map((one) => one.id),
  expires_at: judgment.created_at,
});

function becameOf(key: string): string {
  if (outbox.all.some((one) => one.key === key)) return "Saved here, not sent yet";
  const isReviewed = outbox.reviewed.some(({ item }) => item.key === key);
  return isReviewed ? "Kept for review" : "Revised";
}

function Revision(props: { projectId: string; userId: string; judgment: OwnJudgment }) {
  const { projectId, userId, judgment } = props;
  const navigate = useNavigate();
  useSending(projectId, userId);
  const [assignment] = useState(() => {
    const shown = assignmentOf(judgment);
    // After a reload one goes on; else one begins with what was said last.
    const isGoingOn = read(sessionStorage, REVISING, isText) === judgment.id;
    if (!isGoingOn) keepDraft(shown.id, rankingOf(judgment, shown.presented_order));
    write(sessionStorage, REVISING, judgment.id);
    return shown;
  });
  const [isSending, setSending] = useState(false);
  const submit = (_: Assignment, ranking: Ranking, activeMs: number) => {
    const given = { ranking, activeMs, revise: true, holdMs: 0 };
    const key = put({ projectId, userId }, assignment, given);
    if (key === null) return;
    remove(sessionStorage, REVISING);
    setSending(true);
    void outbox.flush().then(() => {
      const word = `${becameOf(key)}: ${wordsOf(ranking)}.`;
      return navigate(`/projects/${projectId}/mine`, { state: { word } });
    });
  };
  if (isSending) return <Skeleton lines={8} label="Sending" />;
  return (
    <Comparison
      projectId={projectId}
      assignment={assignment}
      onReopen={null}
      onSubmit={submit}
      onSkip={null}
    />
  );
}
