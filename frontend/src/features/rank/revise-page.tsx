/** A judgment of one's own on the page that ranks, with the same keys: what is sent replaces it. */
import "./rank.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";

import { ownJudgmentQuery } from "@/api/judgments";
import { meQuery } from "@/api/session";
import type { Assignment, OwnJudgment } from "@/api/types";
import { EmptyCard, Loaded, Skeleton } from "@/components/states";
import { PageTitle } from "@/components/page-title";
import { isText, read, remove, write } from "@/lib/storage";
import { useGo } from "@/lib/address/use-go";
import { useProjectId } from "@/lib/address/use-project";

import { keepSpent, spentOn } from "./active-time";
import { Comparison, type ComparisonProps } from "./comparison";
import { dropDraft, keepDraft } from "./leases/drafts";
import { UnsentNotes } from "./outbox/unsent";
import { outbox } from "./outbox/browser-outbox";
import { rankingOf, wordsOf, type Ranking } from "./ranking/ranking";
import { FATE_WORDS, fateOf } from "./submit/fate";
import { useEndOfSession } from "./submit/use-end-of-session";
import { useFlush } from "./submit/use-flush";
import { put } from "./submit/use-submission";

/** The judgment that this tab revises. */
const REVISING = "podium.revising";

export function RevisePage() {
  const projectId = useProjectId();
  const { assignmentId = "" } = useParams();
  const me = useQuery(meQuery);
  if (me.data === undefined) return <Skeleton lines={6} />;
  const given = { projectId, userId: me.data.id, assignmentId };
  return <Revising key={assignmentId} {...given} />;
}

interface Given {
  readonly projectId: string;
  readonly userId: string;
  readonly assignmentId: string;
}

function Revising(given: Given) {
  const { projectId, userId, assignmentId } = given;
  const judgment = useQuery(ownJudgmentQuery(projectId, assignmentId));
  const { isSending, submit } = useRevision(given);
  return (
    <div className="rank-page">
      <div className="rank-top">
        <PageTitle>Revise</PageTitle>
        <h1>Revise</h1>
        <span className="grow" />
        <WayBack {...given} isSending={isSending} />
      </div>
      <UnsentNotes userId={userId} />
      {isSending ? (
        <Skeleton lines={8} label="Sending" />
      ) : (
        <Loaded query={judgment} lines={8}>
          {(found) =>
            found === null ? (
              <NoJudgment projectId={projectId} />
            ) : (
              <Revision key={found.id} projectId={projectId} judgment={found} onSubmit={submit} />
            )
          }
        </Loaded>
      )}
    </div>
  );
}

/** Sends a revision and then leads back to what somebody has judged, with a word of what became of it. */
function useRevision({ projectId, userId }: Given) {
  const go = useGo();
  useFlush(userId);
  useEndOfSession(userId);
  const [isSending, setSending] = useState(false);
  const submit = (assignment: Assignment, ranking: Ranking, activeMs: number) => {
    const given = { ranking, activeMs, revise: true, holdMs: 0 };
    const key = put({ projectId, userId }, assignment, given);
    if (key === null) return;
    remove(sessionStorage, REVISING);
    setSending(true);
    void outbox.flush().then(() => {
      // What is not stored the notes above that page tell, for as long as it is so.
      const word = wordOfStored(key);
      const state = word === null ? null : { word: `${word}: ${wordsOf(ranking)}.` };
      return go(`/projects/${projectId}/mine`, { state });
    });
  };
  return { isSending, submit };
}

/** What was sent cannot be left as it was. */
function WayBack({ projectId, assignmentId, isSending }: Given & { isSending: boolean }) {
  const to = `/projects/${projectId}/mine`;
  if (isSending)
    return (
      <Link className="btn ghost" to={to}>
        Back to Mine
      </Link>
    );
  return (
    <Link
      className="btn ghost"
      to={to}
      onClick={() => {
        remove(sessionStorage, REVISING);
        dropDraft(assignmentId);
      }}
    >
      Back without a change
    </Link>
  );
}

function NoJudgment({ projectId }: { projectId: string }) {
  return (
    <EmptyCard
      icon="note"
      title="You have no judgment here"
      actions={
        <Link className="btn primary" to={`/projects/${projectId}/mine`}>
          Go to Mine
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

/** What became of a revision that Podium has stored; null while it waits, and if it was refused. */
function wordOfStored(key: string): string | null {
  const { all: items, status, reviewed, heldKey } = outbox;
  const endOf = (one: string) => outbox.endOf(one);
  const fate = fateOf(key, { items, status, reviewed, heldKey, endOf });
  if (fate === "sent") return "Revised";
  return fate === "reviewed" ? FATE_WORDS.reviewed : null;
}

/** The time goes on, too: this browser may know none of it, or the part that was not sent. */
function begin(judgment: OwnJudgment, shown: Assignment): void {
  keepDraft(shown.id, rankingOf(judgment, shown.presented_order));
  keepSpent(shown.id, Math.max(spentOn(shown.id), judgment.active_ms ?? 0));
}

function Revision(props: {
  projectId: string;
  judgment: OwnJudgment;
  onSubmit: ComparisonProps["onSubmit"];
}) {
  const { projectId, judgment } = props;
  const [assignment] = useState(() => {
    const shown = assignmentOf(judgment);
    // After a reload one goes on; else one begins with what was said last.
    const isGoingOn = read(sessionStorage, REVISING, isText) === judgment.id;
    if (!isGoingOn) begin(judgment, shown);
    write(sessionStorage, REVISING, judgment.id);
    return shown;
  });
  return (
    <Comparison
      page="revise"
      projectId={projectId}
      assignment={assignment}
      onReopen={null}
      onSubmit={props.onSubmit}
      onSkip={null}
    />
  );
}
