/** Splits reasoning between think-tags from the answer, so that it can be folded. */
export interface Split {
  /** Null where there is no reasoning. */
  readonly thinking: string | null;
  readonly answer: string;
}

const OPENING = /<think(?:ing)?>/i;
const OPENING_FIRST = /^<think(?:ing)?>/i;
/** In backticks it is a word about the tag. */
const CLOSING = /(?<!`)<\/think(?:ing)?>/i;
const FENCE = /^ {0,3}(?:```|~~~)/gm;

/** However long the text is, each step reads it once. */
export function splitThinking(text: string): Split {
  const said = text.trimStart();
  const opened = OPENING_FIRST.exec(said)?.[0] ?? null;
  const inside = said.slice(opened?.length ?? 0);
  const closing = CLOSING.exec(inside);
  if (closing === null)
    return opened === null ? whole(text) : { thinking: inside.trim(), answer: "" };
  const thinking = inside.slice(0, closing.index);
  if (opened === null && !isReasoning(thinking)) return whole(text);
  return {
    thinking: thinking.trim(),
    answer: inside.slice(closing.index + closing[0].length).trim(),
  };
}

const whole = (text: string): Split => ({ thinking: null, answer: text });

/**
 * Whether what stands before a closing tag is what a model thought: chat templates often end with the
 * opening tag, so that a response has the closing one alone. An answer about such tags has both, or
 * shows them as code.
 */
function isReasoning(before: string): boolean {
  const fences = before.match(FENCE)?.length ?? 0;
  return !OPENING.test(before) && fences % 2 === 0;
}
