/** What an annotator has said and the server may not have: a judgment, or that somebody else judges. */
import type { Assignment, JudgmentBody } from "@/api/types";
import { plural } from "@/lib/format";

interface OnItsWay {
  readonly assignmentId: string;
  readonly projectId: string;
  readonly userId: string;
  /** The idempotency key: sent twice, it is stored once. */
  readonly key: string;
  /** Milliseconds since the epoch: they are sent in this order. */
  readonly submittedAt: number;
  /** It is not sent before this time (as above): until then its author may take it back. */
  readonly heldUntil?: number;
  /** How the prompt's last turn begins, so that its author knows it again; older items lack it. */
  readonly about?: string;
  /** Why the server will not take it; null while it is on its way. */
  readonly refusal: string | null;
}

export interface UnsentJudgment extends OnItsWay {
  readonly body: JudgmentBody;
}

/** A comparison that its annotator passes on to somebody else. */
export interface UnsentSkip extends OnItsWay {
  readonly skip: { readonly reason: string };
}

export type Unsent = UnsentJudgment | UnsentSkip;

type Unmade<Item> = Item extends Unsent
  ? Omit<Item, "refusal" | "submittedAt" | "heldUntil">
  : never;

/** As it is given to the outbox. */
export type Said = Unmade<Unsent>;

export const isSkip = <Item extends object>(item: Item): item is Extract<Item, { skip: unknown }> =>
  "skip" in item;

/** Whether it replaces what its author has said before. */
export const isRevision = (item: Said | Unsent): boolean =>
  !isSkip(item) && item.body.revise === true;

/** Whether its author holds the lease until the server has it; a revision has none. */
export const holdsLease = (item: Unsent): boolean => item.refusal === null && !isRevision(item);

const MOST_LETTERS = 60;

/** What the comparison is about, in the length of a line. */
export function aboutOf({ comparison }: Pick<Assignment, "comparison">): string {
  const text = (comparison.prompt.messages.at(-1)?.content ?? "").replace(/\s+/g, " ").trim();
  const letters = [...text];
  return letters.length <= MOST_LETTERS ? text : `${letters.slice(0, MOST_LETTERS - 1).join("")}…`;
}

/** "2 judgments and 1 skip". */
export function countOf(items: readonly Unsent[]): string {
  const skips = items.filter(isSkip).length;
  const judgments = items.length - skips;
  return [judgments > 0 && plural(judgments, "judgment"), skips > 0 && plural(skips, "skip")]
    .filter((part) => part !== false)
    .join(" and ");
}

/** The text of a JSON file with everything that is needed to send them by hand. */
export function fileOf(items: readonly Unsent[]): string {
  const common = (item: Unsent) => ({
    assignment_id: item.assignmentId,
    project_id: item.projectId,
    user_id: item.userId,
    submitted_at: new Date(item.submittedAt).toISOString(),
    refusal: item.refusal,
  });
  const judgments = items.flatMap((item) =>
    isSkip(item) ? [] : [{ ...common(item), idempotency_key: item.key, judgment: item.body }],
  );
  const skips = items.filter(isSkip).map((item) => ({ ...common(item), skip: item.skip }));
  return `${JSON.stringify({ format: "podium-unsent-judgments", judgments, skips }, null, 2)}\n`;
}
