/** What becomes of a ranking that is submitted: on its way, told in a word, reopened or taken back. */
import { useEffect, useState } from "react";

import type { Assignment } from "@/api/types";
import { randomId } from "@/lib/random-id";
import { useNewest } from "@/lib/use-newest";

import type { AssignmentQueue } from "../leases/assignment-queue";
import { dropDraft, keepDraft } from "../leases/drafts";
import { keepReopened, reopenedId } from "../leases/reopened";
import { outbox } from "../outbox/browser-outbox";
import { aboutOf } from "../outbox/unsent-item";
import { judgmentOf, undecided, wordsOf, type Ranking } from "../ranking/ranking";

/** A single key sends of two responses: for so long it can be taken back as if it had not been. */
export const HOLD_MS = 3000;

const ALREADY = "You had judged or skipped that comparison before, so nothing was sent";

export interface Told {
  /** Of the judgment in the outbox; null once it was reopened, and for what Undo does not concern. */
  readonly key: string | null;
  readonly words: string;
}

interface Submitted {
  readonly key: string;
  /** Whether it replaces a judgment that was sent before. */
  readonly revise: boolean;
  readonly assignment: Assignment;
  readonly ranking: Ranking;
}

interface Author {
  readonly projectId: string;
  readonly userId: string;
}

/** Puts a judgment into the outbox; null if this tab has submitted it already. */
export function put(
  { projectId, userId }: Author,
  assignment: Assignment,
  given: { ranking: Ranking; activeMs: number; revise: boolean; holdMs: number },
): string | null {
  outbox.letGo();
  const ids = assignment.comparison.responses.map((response) => response.id);
  const { ranking, revise } = given;
  const body = { ...judgmentOf(ranking, ids), active_ms: Math.round(given.activeMs), revise };
  const key = randomId();
  const about = aboutOf(assignment);
  const sent = { assignmentId: assignment.id, projectId, userId, key, about, body };
  if (!outbox.add(sent, given.holdMs)) return null;
  dropDraft(assignment.id);
  return key;
}

export function useSubmission(author: Author, queue: Pick<AssignmentQueue, "advance" | "reopen">) {
  const { projectId, userId } = author;
  const [last, newestLast, setLast] = useNewest<Submitted | null>(() => null);
  const [told, setTold] = useState<Told | null>(null);
  const [reopened, setReopened] = useState(() => reopenedId(projectId, userId));
  const become = (id: string | null) => {
    setReopened(id);
    keepReopened(projectId, userId, id);
  };
  /** It was judged or skipped before and is on screen still: the page goes on without it. */
  const pass = ({ id }: Assignment) => {
    dropDraft(id);
    queue.advance(id);
    // A second Enter may come before the next comparison is drawn: that needs no words.
    if (newestLast()?.assignment.id !== id) setTold({ key: null, words: ALREADY });
  };

  // Whoever leaves the page takes nothing back.
  useEffect(() => () => outbox.letGo(), []);

  const submit = (assignment: Assignment, ranking: Ranking, activeMs: number) => {
    const revise = reopened === assignment.id;
    const holdMs = ranking.count === 2 ? HOLD_MS : 0;
    const key = put(author, assignment, { ranking, activeMs, revise, holdMs });
    if (key === null) return pass(assignment);
    become(null);
    setLast({ key, revise, assignment, ranking });
    setTold({ key, words: wordsOf(ranking) });
    queue.advance(assignment.id);
  };
  const reopen = () => {
    if (last === null) return;
    const { key, revise, assignment, ranking } = last;
    const isTakenBack = outbox.takeBack(key);
    keepDraft(assignment.id, isTakenBack ? undecided(ranking) : ranking);
    // Taken back, it is as if it had not been; what it would have replaced was sent.
    become(isTakenBack && !revise ? null : assignment.id);
    queue.reopen(assignment);
    setLast(null);
    const words = wordsOf(ranking);
    setTold({ key: null, words: isTakenBack ? `Taken back: ${words}` : `Reopened: ${words}` });
  };
  const skip = (assignment: Assignment, reason: string) => {
    // Somebody goes on without judging: what is held back is sent.
    outbox.letGo();
    const about = aboutOf(assignment);
    const skipped = { ...author, assignmentId: assignment.id, key: randomId(), about };
    if (!outbox.add({ ...skipped, skip: { reason } })) return pass(assignment);
    dropDraft(assignment.id);
    setTold({ key: null, words: `Skipped: ${reason}` });
    queue.advance(assignment.id);
  };
  return { submit, skip, reopen: last === null ? null : reopen, reopened, told };
}
