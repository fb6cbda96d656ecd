/** What may come next in a filter; pure. The server reads the filter, this only helps to write it. */
import type { RunKeys } from "@/api/types";
import { wordsOfVerdictValue } from "@/components/verdict/verdict-words";

export interface Suggestion {
  /** What stands in the text afterwards, instead of the characters from `from` to the caret. */
  readonly insert: string;
  readonly about: string;
}

export interface Completion {
  readonly from: number;
  readonly options: readonly Suggestion[];
}

export interface Known {
  readonly keys: RunKeys;
  readonly experiments: readonly string[];
}

const MOST = 12;
const TERM = /^([^:=<>~!\s]+?)(!=|>=|<=|[:=<>~])(.*)$/s;
const OPERATOR_WORDS: Readonly<Record<string, string>> = {
  ":": "is",
  "!=": "is not",
  "~": "contains",
  ">": "is more than",
  ">=": "is at least",
  "<": "is less than",
  "<=": "is at most",
};

export function complete(text: string, caret: number, known: Known): Completion {
  const from = startOfTerm(text, caret);
  const term = text.slice(from, caret);
  const [, key, operator, values] = TERM.exec(term) ?? [];
  if (key === undefined || operator === undefined || values === undefined)
    return { from, options: keysLike(term, known).slice(0, MOST) };
  const at = values.lastIndexOf(",") + 1;
  return {
    from: caret - (values.length - at),
    options: valuesLike(key, operator, values.slice(at), known).slice(0, MOST),
  };
}

/** Where the term begins that the caret is in: behind a space, a bracket or a minus. */
function startOfTerm(text: string, caret: number): number {
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < caret; at++) {
    const one = text[at] ?? "";
    if (one === '"' && text[at - 1] !== "\\") isQuoted = !isQuoted;
    if (!isQuoted && /[\s()]/.test(one)) start = at + 1;
  }
  return text[start] === "-" && start < caret ? start + 1 : start;
}

function fieldOf(key: string, { keys }: Known) {
  const open = key.startsWith("last.") ? "metric." : key.slice(0, key.indexOf(".") + 1);
  return keys.fields.find(({ name }) => name === (key.includes(".") ? open : key));
}

function keysLike(part: string, known: Known): Suggestion[] {
  const { keys } = known;
  const exact = fieldOf(part, known);
  if (exact !== undefined && !part.endsWith("."))
    if (exact.name === part || namesOf(part, keys).includes(part))
      return exact.operators.map((one) => ({
        insert: part + one,
        about: OPERATOR_WORDS[one] ?? "",
      }));
  const fields = keys.fields.map(({ name, about, operators }) => ({
    // Of most keys a value is asked for; what is compared is chosen next.
    insert: name.endsWith(".") || operators.includes(">") ? name : `${name}:`,
    about,
  }));
  const named = part.includes(".")
    ? namesOf(part, keys)
    : part === ""
      ? []
      : [...keys.config, ...keys.metrics.map((name) => `metric.${name}`)];
  return ranked(
    part,
    [...fields, ...named.map((insert) => ({ insert, about: "" }))],
    ({ insert }) => insert,
  );
}

/** All keys of the kind that a key begins with. */
function namesOf(key: string, { config, metrics }: RunKeys): readonly string[] {
  if (key.startsWith("config.")) return config;
  const kind = /^(metric|last|best|min|max)\./.exec(key)?.[1];
  return kind === undefined ? [] : metrics.map((name) => `${kind}.${name}`);
}

function valuesLike(key: string, operator: string, part: string, known: Known): Suggestion[] {
  const field = fieldOf(key, known);
  if (field === undefined) return [];
  const isEqual = operator === ":" || operator === "=" || operator === "!=";
  const said =
    key === "tag" ? known.keys.tags : key === "experiment" ? known.experiments : field.choices;
  const special: Suggestion[] =
    isEqual && field.name !== "archived"
      ? [
          { insert: "none", about: "has no value" },
          { insert: "any", about: "has a value" },
        ]
      : field.name === "archived"
        ? [{ insert: "any", about: "archived or not" }]
        : [];
  const values = said.map((value) => ({
    insert: asValue(value),
    about: key === "verdict" ? wordsOfVerdictValue(value) : "",
  }));
  const bare = part.replace(/^"/, "");
  const written = ranked(bare, [...values, ...special], ({ insert }) => insert.replace(/^"/, ""));
  const isWhole = [...said, ...special.map(({ insert }) => insert)].some((one) =>
    isSame(one, bare),
  );
  return isWhole ? written : [...written, ...meaning(bare, values, written)];
}

/** The server reads values in any case, too. */
const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Values that are not written so, but mean it: "clear" finds the verdict "no clear change". */
function meaning(part: string, values: Suggestion[], found: readonly Suggestion[]): Suggestion[] {
  if (part === "") return [];
  const others = values.filter((one) => one.about !== "" && !found.includes(one));
  return ranked(part, others, ({ about }) => about);
}

/** Those that begin with the part come before those that have it elsewhere. */
function ranked<Item>(part: string, items: readonly Item[], text: (item: Item) => string): Item[] {
  const wanted = part.toLowerCase();
  const place = (item: Item) => text(item).toLowerCase().indexOf(wanted);
  return [
    ...items.filter((item) => place(item) === 0),
    ...items.filter((item) => place(item) > 0),
  ].filter((item) => text(item).toLowerCase() !== wanted);
}

/** A value as the language writes it: in quotation marks if it has more than plain characters. */
export function asValue(value: string): string {
  const isPlain = /^[^\s()",]+$/.test(value) && value !== "none" && value !== "any";
  return isPlain ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** The text with a suggestion taken, and where the caret goes. */
export function taken(
  text: string,
  caret: number,
  { from, insert }: { from: number; insert: string },
) {
  const isWhole =
    !/[.:=<>~]$/.test(insert) &&
    TERM.test(`${text.slice(0, from)}${insert}`.trim().split(/[\s(]/).at(-1) ?? "");
  const rest = text.slice(caret);
  const space = isWhole && !rest.startsWith(" ") ? " " : "";
  const head = text.slice(0, from) + insert + space;
  return { text: head + rest, caret: head.length };
}

/**
 * Whether to send the filter while somebody is still writing: not if a key or a value may be in the
 * making, nor before it is known which there are.
 */
export function maySend(text: string, caret: number, known: Known): boolean {
  if (!isComplete(text)) return false;
  const word = text.slice(startOfTerm(text, caret), caret);
  if (word === "") return true;
  if (known.keys.fields.length === 0) return false;
  const { from, options } = complete(text, caret, known);
  const written = text.slice(from, caret);
  const isValue = TERM.test(word) && options.some(({ insert }) => insert.trim() === written);
  return options.length === 0 || isValue;
}

/** Whether the filter can be read while somebody is still writing it. */
export function isComplete(text: string): boolean {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, "q");
  const opens = bare.split("(").length - bare.split(")").length;
  return !bare.includes('"') && opens === 0 && !/(^|[\s(])(OR|AND|NOT|-)\s*$|[:=<>~,!]$/.test(bare);
}
