/** Splits reasoning between think-tags from the answer, so that it can be folded. */
export function splitThinking(text: string): { thinking: string; answer: string } {
  const found = /^\s*<think(?:ing)?>([\s\S]*?)(?:<\/think(?:ing)?>|$)/i.exec(text);
  if (found === null) return { thinking: "", answer: text };
  return { thinking: (found[1] ?? "").trim(), answer: text.slice(found[0].length).trim() };
}
