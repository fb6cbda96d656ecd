/** How long the responses of a comparison are: their columns and the size of their type follow from it. */
import { splitThinking } from "@/components/response/thinking";

export type Length = "few words" | "short" | "medium" | "long";

// A name, a number, a line: read at a glance, also when it is large.
const MOST_OF_A_GLANCE = 8;
const MOST_WORDS_OF_SHORT = 60;
const MOST_WORDS_OF_MEDIUM = 300;
// What a word takes where a script has no spaces, and a line where lines are short, as in code.
const CHARACTERS_OF_A_WORD = 8;
const WORDS_OF_A_LINE = 6;

export function lengthOf(responses: readonly string[]): Length {
  const words = Math.max(...responses.map((text) => wordsOf(splitThinking(text).answer)));
  if (words <= MOST_OF_A_GLANCE) return "few words";
  if (words <= MOST_WORDS_OF_SHORT) return "short";
  return words <= MOST_WORDS_OF_MEDIUM ? "medium" : "long";
}

function wordsOf(text: string): number {
  const byCharacters = text.length / CHARACTERS_OF_A_WORD;
  if (byCharacters > MOST_WORDS_OF_MEDIUM) return byCharacters;
  const words = text.match(/\S+/g)?.length ?? 0;
  const lines = text.match(/\S.*/g)?.length ?? 0;
  return Math.max(words, byCharacters, lines * WORDS_OF_A_LINE);
}
