/** What a list of samples is the answer to, and at which step somebody reads. Pure. */
import { isOfNewest, type AnsweredSamples, type AskedSamples } from "@/api/runs";
import { number } from "@/lib/format";

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
  if (!isOfNewest(asked) || answer === undefined) return before;
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
  answered.every_step === asked.every_step &&
  answered.step === asked.step;

/** Entries of a list to choose a step from: a browser draws each of them. */
export const MOST_CHOICES = 100;

/** The steps around the one that is shown, and that one, also if it is not among them. */
export function choicesAround(steps: readonly number[], shown: number | null): number[] {
  const at = shown ?? steps.at(-1) ?? 0;
  const after = steps.findIndex((step) => step >= at);
  const place = after === -1 ? steps.length : after;
  const first = Math.max(0, Math.min(place - MOST_CHOICES / 2, steps.length - MOST_CHOICES));
  const choices = steps.slice(first, first + MOST_CHOICES);
  if (shown === null || choices.includes(shown)) return choices;
  return [...choices, shown].sort((a, b) => a - b);
}

/** The next step in a direction that has samples; null at the end. */
export function neighbour(
  steps: readonly number[],
  shown: number | null,
  direction: "earlier" | "later",
): number | null {
  if (shown === null) return null;
  const found =
    direction === "later"
      ? steps.find((step) => step > shown)
      : steps.findLast((step) => step < shown);
  return found ?? null;
}

/** The step of the answer; until it is here, the one that is asked for. */
export function stepShown(answer: AnsweredSamples, asked: AskedSamples): number | null {
  const { kind, step } = answer.asked;
  const isAnswered = kind === asked.kind && (asked.step === null || asked.step === step);
  return isAnswered ? answer.step : asked.step;
}

const KINDS = { rollout: "samples of training", probe: "held-out probes" } as const;

/** What is shown instead of what was asked for, and why; null = it is what was asked for. */
export function insteadOf({ asked, kind, step, kinds }: AnsweredSamples): string | null {
  const isOther = asked.step !== null && asked.step !== step;
  if (kind !== asked.kind) {
    const found = isOther && step !== null ? `, the nearest to step ${number(asked.step)}` : "";
    const where = step === null ? "" : ` of step ${number(step)}${found}`;
    return `This run has logged no ${KINDS[asked.kind]}: these are ${KINDS[kind]}${where}.`;
  }
  if (!isOther || step === null) return null;
  const what = kinds.length > 1 ? KINDS[kind] : "samples";
  return `No ${what} were logged at step ${number(asked.step)}: these are of step ${number(step)}, the nearest that has some.`;
}
