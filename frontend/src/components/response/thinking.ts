/** Splits reasoning between think-tags from the answer, so that it can be folded. */
export interface Split {
  /** Null where there is no reasoning. */
  readonly thinking: string | null;
  readonly answer: string;
}

/** Chat templates often end with the opening tag, so that a response has the closing one alone. */
const CLOSED = /^\s*(?:<think(?:ing)?>)?([\s\S]*?)(?<!`)<\/think(?:ing)?>/i;
const NEVER_CLOSED = /^\s*<think(?:ing)?>([\s\S]*)$/i;

export function splitThinking(text: string): Split {
  const found = CLOSED.exec(text) ?? NEVER_CLOSED.exec(text);
  if (found === null) return { thinking: null, answer: text };
  return { thinking: (found[1] ?? "").trim(), answer: text.slice(found[0].length).trim() };
}
