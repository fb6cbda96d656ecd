/** What a snapshot would take of a project, in words. Pure. */
import type { JudgmentCounts, Project, SnapshotBody } from "@/api/types";
import { number, plural } from "@/lib/format";

export type Kind = SnapshotBody["kind"];

/** Judgments that were given without criteria. */
export const WITHOUT = "";

export const countUnder = (counts: JudgmentCounts, criterion: string): number =>
  counts.criteria.find((one) => one.criterion === criterion)?.judgments ?? 0;

/** The criteria that can be chosen; none where judgments were given without criteria alone. */
export const choicesOf = ({ criteria }: JudgmentCounts) => (criteria.length === 1 ? [] : criteria);

/** Whose judgments a snapshot takes until somebody chooses: the first that has any. */
export const firstWithAny = ({ criteria }: JudgmentCounts): string =>
  (criteria.find(({ judgments }) => judgments > 0) ?? criteria[0])?.criterion ?? WITHOUT;

const keptText = (reviews: number, more: string) =>
  reviews === 0
    ? ""
    : ` ${number(reviews)}${more} ${reviews === 1 ? "is" : "are"} kept for review and left out.`;

export function judgmentsTaken(counts: JudgmentCounts, criterion: string): string {
  const { judgments, reviews } = counts;
  if (judgments === 0) return `There is no judgment that counts yet.${keptText(reviews, "")}`;
  const taken = countUnder(counts, criterion);
  const kept = keptText(reviews, " more");
  if (taken === judgments)
    return `The snapshot takes ${judgments === 1 ? "the only judgment" : `all ${number(judgments)} judgments`}.${kept}`;
  const which = criterion === WITHOUT ? "given without criteria" : `given under “${criterion}”`;
  return `The snapshot takes ${number(taken)} of ${plural(judgments, "judgment")}: ${taken === 1 ? "the one" : "those"} ${which}.${kept}`;
}

export type RecordKind = "prompts" | "demonstrations" | "solutions";

const ONE: Readonly<Record<RecordKind, string>> = {
  prompts: "prompt",
  demonstrations: "demonstration",
  solutions: "solution",
};

export function recordsTaken(kind: RecordKind, counts: Project["counts"]): string {
  const held = counts?.[kind];
  if (held === undefined) return `The snapshot takes every ${ONE[kind]} of the project.`;
  if (held === 0) return `There are no ${kind} yet.`;
  return held === 1
    ? `The snapshot takes the only ${ONE[kind]}.`
    : `The snapshot takes all ${number(held)} ${kind}.`;
}
