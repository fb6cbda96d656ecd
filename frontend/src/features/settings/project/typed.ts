/** The settings of a project as they are typed, and what becomes of them when somebody was faster. Pure. */
import type { Criterion, Project, ProjectChange } from "@/api/types";
import { settingsOf, wantedFrom, type Wanted } from "@/components/form/judgments-fields";

import { criteriaOf } from "./criteria-field";

/** What the fields hold; `reasons` one per line. */
export interface Typed extends Wanted {
  readonly name: string;
  readonly guidelines: string;
  readonly reasons: string;
  readonly criteria: readonly Criterion[];
}

export type FieldName = keyof Typed;

/** In the order of the form; as a sentence names them. */
export const LABELS: Readonly<Record<FieldName, string>> = {
  name: "name",
  guidelines: "guidelines",
  each: "judgments per comparison",
  first: "number of first comparisons with two judgments",
  percent: "percent of later comparisons with two judgments",
  criteria: "criteria",
  reasons: "reasons for “cannot judge”",
};

const FIELDS = Object.keys(LABELS) as FieldName[];

export const typedFrom = (project: Project): Typed => ({
  ...wantedFrom(project),
  name: project.name,
  guidelines: project.guidelines,
  reasons: project.cannot_judge_reasons.join("\n"),
  criteria: project.criteria,
});

export const linesOf = (text: string): string[] =>
  [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");

/** A field as a text that somebody can compare with another person's. */
export function textOf(typed: Typed, field: FieldName): string {
  if (field === "name") return typed.name.trim();
  if (field === "reasons") return linesOf(typed.reasons).join("\n");
  if (field !== "criteria") return typed[field];
  return criteriaOf(typed.criteria)
    .map(({ name, question }) => `${name}: ${question}`)
    .join("\n");
}

const fieldsWhere = (isMeant: (text: (typed: Typed) => string) => boolean): FieldName[] =>
  FIELDS.filter((field) => isMeant((typed) => textOf(typed, field)));

/** The fields that differ. */
export const differing = (one: Typed, other: Typed): FieldName[] =>
  fieldsWhere((text) => text(one) !== text(other));

/** Whether the numbers of judgments are the same. */
export const isSameWanted = (one: Typed, other: Typed): boolean =>
  differing(one, other).every((field) => !["each", "first", "percent"].includes(field));

/** Those that were typed on `from` and that somebody else made something else meanwhile. */
export const clashing = (typed: Typed, from: Typed, newest: Typed): FieldName[] =>
  fieldsWhere(
    (text) =>
      text(typed) !== text(from) && text(newest) !== text(from) && text(typed) !== text(newest),
  );

/** Those that nobody typed here and that somebody else changed meanwhile. */
export const taken = (typed: Typed, from: Typed, newest: Typed): FieldName[] =>
  fieldsWhere((text) => text(typed) === text(from) && text(newest) !== text(from));

/** These fields of `to` as they are in `other`. */
export const withFields = (to: Typed, fields: readonly FieldName[], other: Typed): Typed => ({
  ...to,
  ...Object.fromEntries(fields.map((field) => [field, other[field]])),
});

/** What is sent: what was typed and nothing else, so that another field stays as somebody made it. */
export function changeOf(typed: Typed, from: Typed): ProjectChange {
  const numbers = settingsOf(typed);
  const changes: Readonly<Record<FieldName, ProjectChange>> = {
    name: { name: typed.name.trim() },
    guidelines: { guidelines: typed.guidelines },
    each: { judgments_per_comparison: numbers.judgments_per_comparison },
    first: { overlap_first: numbers.overlap_first },
    percent: { overlap_share: numbers.overlap_share },
    criteria: { criteria: criteriaOf(typed.criteria) },
    reasons: { cannot_judge_reasons: linesOf(typed.reasons) },
  };
  return Object.assign(
    {},
    ...differing(typed, from).map((field) => changes[field]),
  ) as ProjectChange;
}
