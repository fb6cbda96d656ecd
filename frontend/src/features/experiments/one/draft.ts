/** What was typed and not saved: kept in this browser until it is saved or cancelled. */
import { read, remove, write } from "@/lib/storage";

import { changesOf, FIELDS, type Texts } from "./texts";

export interface Draft {
  readonly typed: Texts;
  /** What stood there when it was typed, and which revision that was. */
  readonly from: Texts;
  readonly revision: number;
}

/** Whose and of what: another person in the same browser does not see it. */
type Whose = readonly [userId: string, experimentId: string];

const keyOf = (whose: Whose) => `podium.experiment.${whose.join(".")}`;

const areTexts = (value: unknown): value is Texts =>
  typeof value === "object" &&
  value !== null &&
  FIELDS.every((name) => typeof (value as Record<string, unknown>)[name] === "string");

const isDraft = (value: unknown): value is Draft =>
  typeof value === "object" &&
  value !== null &&
  "typed" in value &&
  "from" in value &&
  "revision" in value &&
  typeof value.revision === "number" &&
  areTexts(value.typed) &&
  areTexts(value.from);

/** Null where nothing was left. */
export const draftOf = (whose: Whose): Draft | null => read(localStorage, keyOf(whose), isDraft);

/** Texts that say nothing new are no draft. */
export function keepDraft(whose: Whose, { typed, from, revision }: Draft): void {
  if (Object.keys(changesOf(typed, from)).length === 0) dropDraft(whose);
  else write(localStorage, keyOf(whose), { typed, from, revision });
}

/** Drop what was sent, and nothing that was typed since. */
export function dropSent(whose: Whose, sent: Texts): void {
  const kept = draftOf(whose);
  if (kept !== null && Object.keys(changesOf(kept.typed, sent)).length === 0) dropDraft(whose);
}

export const dropDraft = (whose: Whose): void => remove(localStorage, keyOf(whose));
