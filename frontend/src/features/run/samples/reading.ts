/** What a list of samples is the answer to, and at which step somebody reads. Pure. */
import type { AnsweredSamples, AskedSamples } from "@/api/runs";

/** The step that was the newest when the reading began: it stays while the run logs more. */
export interface Held {
  readonly kind: AskedSamples["kind"];
  readonly step: number;
}

/** Where an answer about the newest step begins a reading; `before` if it is about another one. */
export function heldAfter(
  before: Held | null,
  asked: AskedSamples,
  answer: AnsweredSamples | undefined,
): Held | null {
  if (asked.step !== null || asked.prompt_id !== null || answer === undefined) return before;
  return answer.step === null ? before : { kind: asked.kind, step: answer.step };
}

/** The newest step, if it is not the one that is read; after a rewind it may be an earlier one. */
export function newerThan(held: Held, { asked, steps }: AnsweredSamples): number | null {
  const newest = steps.at(-1);
  const isOther = asked.kind !== held.kind || newest === undefined || newest === held.step;
  return isOther ? null : newest;
}

/**
 * Whether a list may stay until the next one is there: of the same samples, found or sorted in
 * another way. That nothing was found says nothing of what is looked for next.
 */
export const isAnswerTo = ({ asked: answered, items }: AnsweredSamples, asked: AskedSamples) =>
  items.length > 0 &&
  answered.kind === asked.kind &&
  answered.prompt_id === asked.prompt_id &&
  answered.step === asked.step;

/** The step that is asked for; of the newest the one that it turned out to be. */
export const stepShown = (answer: AnsweredSamples, asked: AskedSamples): number | null =>
  asked.step ?? (answer.asked.kind === asked.kind ? answer.step : null);
