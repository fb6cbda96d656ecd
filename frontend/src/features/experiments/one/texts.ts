/** The texts of an experiment: what was typed, and what becomes of it when somebody was faster. Pure. */
import type { Experiment } from "@/api/types";

export const FIELDS = ["name", "question", "hypothesis", "conclusion", "notes"] as const;

export type Texts = Pick<Experiment, (typeof FIELDS)[number]>;

const chosen = (of: (name: (typeof FIELDS)[number]) => string): Texts =>
  Object.fromEntries(FIELDS.map((name) => [name, of(name)])) as Texts;

export const textsOf = (experiment: Texts): Texts => chosen((name) => experiment[name]);

/** What was typed, and nothing else: another field that somebody changed stays theirs. */
export const changesOf = (typed: Texts, from: Texts): Partial<Texts> =>
  Object.fromEntries(FIELDS.filter((name) => typed[name] !== from[name]).map((n) => [n, typed[n]]));

/** What was typed on `from`, on the newest instead: untouched fields become what they are there. */
export const rebased = (typed: Texts, from: Texts, newest: Texts): Texts =>
  chosen((name) => (typed[name] === from[name] ? newest[name] : typed[name]));
