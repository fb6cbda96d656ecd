/** Which answers of a run become demonstrations, and how many these are. Pure. */
import type { AnswersCount } from "@/api/types";
import { number, plural } from "@/lib/format";

interface Rule {
  readonly best: number | null;
  readonly min_score: number | null;
  readonly passed: boolean;
  readonly term: string | null;
}

/** A number that was typed; nothing means no limit. */
export const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));

/** The rule as the query of an address. */
export const ruleOf = (rule: Rule): string =>
  new URLSearchParams(
    Object.entries(rule)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, String(value)]),
  ).toString();

/** `count`: undefined until it is known, null where it is not; of the rule before if not current. */
export function keptText(count: AnswersCount | null | undefined, isCurrent: boolean): string {
  if (count === null) return "";
  if (count === undefined || !isCurrent) return "Counting the answers…";
  const of = `of ${plural(count.of_answers, "answer")} to ${plural(count.of_prompts, "prompt")}`;
  if (count.answers === 0) return `These rules keep none ${of}.`;
  return `These rules keep ${number(count.answers)} ${of}, to ${number(count.prompts)} of the prompts.`;
}
