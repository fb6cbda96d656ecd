/** The texts of tokens as they stand in their response; pure. */

/**
 * Tokens with the blanks that the response has before them: a tokenizer of words drops those of a
 * token that is decoded alone. From a token on that the response does not have, as they are.
 */
export function spaced(tokens: readonly string[], response: string): readonly string[] {
  let at = 0;
  return tokens.map((token) => {
    const blank = response.startsWith(token, at) ? "" : blankAt(response, at);
    if (!response.startsWith(token, at + blank.length)) return token;
    at += blank.length + token.length;
    return blank + token;
  });
}

const blankAt = (text: string, at: number): string => /^\s*/.exec(text.slice(at))?.[0] ?? "";
