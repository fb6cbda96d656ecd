/** The way through the criteria of a comparison: Enter leads on, the last Enter submits. */
import { atStep, whatIsMissing, type Move, type Ranking } from "../ranking/ranking";

const isAnswered = (ranking: Ranking, step: number) =>
  whatIsMissing(atStep(ranking, step)) === null;

/**
 * Where Enter leads once this criterion is answered: to the next one, or one that was passed over;
 * null if it submits.
 */
export function nextStep(ranking: Ranking): number | null {
  if (ranking.step + 1 < ranking.criteria.length) return ranking.step + 1;
  const open = ranking.criteria.findIndex(
    (_, step) => step !== ranking.step && !isAnswered(ranking, step),
  );
  return open < 0 ? null : open;
}

/** Where Z leads when nothing is left to undo: to the criterion before, or out of the comparison. */
export function wayBack(
  ranking: Ranking,
  make: (move: Move) => void,
  leave: (() => void) | null,
): (() => void) | null {
  if (ranking.step === 0) return leave;
  return () => make({ kind: "step", step: ranking.step - 1 });
}

/** Whether every criterion is answered, or the one ranking where there are none. */
export const isComplete = (ranking: Ranking): boolean =>
  whatIsMissing(ranking) === null && ranking.criteria.every((_, step) => isAnswered(ranking, step));

/** Whether a criterion can be looked at: all before it are answered. */
export const canOpen = (ranking: Ranking, step: number): boolean =>
  ranking.criteria.slice(0, step).every((_, before) => isAnswered(ranking, before));
