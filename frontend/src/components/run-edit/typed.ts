/** What somebody types about a run, and what of it somebody else changed meanwhile. Pure. */
import type { Run, RunChange } from "@/api/types";

export const FIELDS = ["name", "tags", "notes"] as const;

export type FieldName = (typeof FIELDS)[number];

/** The fields of a form; a form need not have all. */
export interface Typed {
  readonly name?: string;
  readonly tags?: string[];
  readonly notes?: string;
}

export const valuesOf = ({ name, tags, notes }: Run): Required<Typed> => ({
  name,
  tags,
  notes: notes ?? "",
});

export const fieldsOf = (typed: Typed): FieldName[] =>
  FIELDS.filter((name) => typed[name] !== undefined);

const areSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Fields that the author changed: of the others nothing is sent. */
export const changedFields = (typed: Typed, seen: Typed): FieldName[] =>
  FIELDS.filter((name) => typed[name] !== undefined && !areSame(typed[name], seen[name]));

/** Fields that both changed, and not to the same. */
export const clashingFields = (typed: Typed, seen: Typed, newest: Typed): FieldName[] =>
  changedFields(typed, seen).filter(
    (name) => !areSame(newest[name], seen[name]) && !areSame(newest[name], typed[name]),
  );

/** What a change asked for, in the words of its author. */
export const sentValues = ({ name, tags, notes }: RunChange): Typed => ({
  ...(name != null && { name }),
  ...(tags != null && { tags }),
  ...(notes != null && { notes }),
});

const only = (fields: readonly FieldName[], of: Typed): Typed =>
  Object.fromEntries(fields.map((name) => [name, of[name]]));

/** `newest` is what the author was shown last: the change is refused if it is not so any more. */
export function changeOf(typed: Typed, seen: Typed, newest: Typed): RunChange {
  const fields = changedFields(typed, seen);
  return { ...only(fields, typed), before: only(fields, newest) };
}
