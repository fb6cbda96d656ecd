/** What a button of a ranking does, in words: of two responses one button says all. */
import type { Command } from "../keys/keys";
import { decided, letterOf, tierOf, type Move, type Ranking } from "../ranking/ranking";
import { nextStep } from "./steps";

/** Where a move leads if it says all of two responses: "Tie: submit"; null if more is to come. */
export function wordsOfDecision(words: string, ranking: Ranking, move: Move): string | null {
  const final = decided(ranking, move);
  if (final === null) return null;
  return `${words}: ${nextStep(final) === null ? "submit" : "next criterion"}`;
}

/** The same of a command, which may be no move. */
export const wordsOfCommand = (words: string, ranking: Ranking, command: Command): string | null =>
  command.kind === "move" ? wordsOfDecision(words, ranking, command.move) : null;

/** What the button with a response's letter does. */
export function wordsOfChoice(ranking: Ranking, card: number): string {
  const letter = letterOf(card);
  const decision = wordsOfDecision(`${letter} is better`, ranking, { kind: "letter", card });
  if (decision !== null) return decision;
  const last = ranking.order.at(-1);
  if (ranking.isTying && last !== undefined)
    return last === card ? `No tie with ${letter}` : `Tie ${letter} with ${letterOf(last)}`;
  return tierOf(ranking, card) < 0 ? `Rank ${letter} next` : `Select ${letter}`;
}
