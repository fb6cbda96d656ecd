/** What a button of a ranking does, in words: of two responses one button says all. */
import type { Command } from "../keys/keys";
import { decided, letterOf, tierOf, type Move, type Ranking } from "../ranking/ranking";
import { nextStep } from "./steps";

/**
 * Where a move leads if it says all of two responses: "Tie: submit", or "Tie" where Enter sends; null
 * if more is to come.
 */
export function wordsOfDecision(
  words: string,
  ranking: Ranking,
  move: Move,
  sendsAtOnce = true,
): string | null {
  const final = decided(ranking, move);
  if (final === null) return null;
  if (nextStep(final) !== null) return `${words}: next criterion`;
  return sendsAtOnce ? `${words}: submit` : words;
}

/** The same of a command, which may be no move. */
export const wordsOfCommand = (
  words: string,
  ranking: Ranking,
  command: Command,
  sendsAtOnce = true,
): string | null =>
  command.kind === "move" ? wordsOfDecision(words, ranking, command.move, sendsAtOnce) : null;

/** What the button with a response's letter does. */
export function wordsOfChoice(ranking: Ranking, card: number, sendsAtOnce = true): string {
  const letter = letterOf(card);
  const move = { kind: "letter", card } as const;
  const decision = wordsOfDecision(`${letter} is better`, ranking, move, sendsAtOnce);
  if (decision !== null) return decision;
  const last = ranking.order.at(-1);
  if (ranking.isTying && last !== undefined)
    return last === card ? `No tie with ${letter}` : `Tie ${letter} with ${letterOf(last)}`;
  return tierOf(ranking, card) < 0 ? `Rank ${letter} next` : `Select ${letter}`;
}
