/**
 * Where LaTeX stands in a text. Markdown would take its backslashes, stars and underscores for its
 * own, so formulas are lifted out before the text is parsed: a token stands in for each, which
 * `literal-tree.ts` replaces by the formula.
 *
 * `$$..$$` and `\[..\]` are displayed; `$..$` and `\(..\)` stand in the line. A single dollar begins
 * a formula only if no space follows, and ends it only if no space is before it and no letter or
 * digit behind it, so that "$5 and $10" are prices.
 */
import { fromMarkdown } from "mdast-util-from-markdown";
import { SKIP, visit } from "unist-util-visit";

export interface Formula {
  readonly source: string;
  /** As it stands in the text, with its delimiters. */
  readonly written: string;
  readonly isDisplay: boolean;
}

/** A text in which tokens stand for formulas; `tokens` finds them, the first group is the number. */
export interface Lifted {
  readonly text: string;
  readonly formulas: readonly Formula[];
  readonly tokens: RegExp;
}

/** Longer ones are no formulas: somebody forgot the end. */
const LONGEST = 4000;
const NEVER = /(?!)/g;

type Range = readonly [from: number, to: number];

export function liftFormulas(text: string): Lifted {
  const nothing = { text, formulas: [], tokens: NEVER };
  if (!/\$|\\[([]/.test(text)) return nothing;
  const found = formulasIn(text, verbatim(text));
  const [open, close] = unusedPair(text);
  if (found.length === 0 || open === undefined || close === undefined) return nothing;
  let lifted = "";
  let from = 0;
  found.forEach(([range], number) => {
    lifted += text.slice(from, range[0]) + open + number.toString() + close;
    from = range[1];
  });
  return {
    text: lifted + text.slice(from),
    formulas: found.map(([, formula]) => formula),
    tokens: new RegExp(`${open}(\\d+)${close}`, "g"),
  };
}

/** Two characters for private use that the text does not have. */
function unusedPair(text: string): string[] {
  const unused: string[] = [];
  for (let code = 0xe000; code < 0xf8ff && unused.length < 2; code++) {
    const character = String.fromCharCode(code);
    if (!text.includes(character)) unused.push(character);
  }
  return unused;
}

/** What markdown takes as it is written, and where links lead: no formula stands there. */
function verbatim(text: string): Range[] {
  const ranges: Range[] = [];
  visit(fromMarkdown(text), (node) => {
    const from = node.position?.start.offset ?? 0;
    const to = node.position?.end.offset ?? 0;
    switch (node.type) {
      case "code":
      case "inlineCode":
      case "html":
      case "definition":
      case "image":
        ranges.push([from, to]);
        return SKIP;
      case "link":
        ranges.push([node.children.at(-1)?.position?.end.offset ?? from, to]);
        return;
      default:
        return;
    }
  });
  return ranges.sort(([one], [other]) => one - other);
}

interface Kind {
  readonly open: string;
  readonly close: string;
  readonly isDisplay: boolean;
}

const KINDS: readonly Kind[] = [
  { open: "$$", close: "$$", isDisplay: true },
  { open: "\\[", close: "\\]", isDisplay: true },
  { open: "\\(", close: "\\)", isDisplay: false },
  { open: "$", close: "$", isDisplay: false },
];

function formulasIn(text: string, kept: readonly Range[]): [Range, Formula][] {
  const found: [Range, Formula][] = [];
  const ends = new Ends(text);
  let place = 0;
  let next = 0;
  while (place < text.length) {
    while (next < kept.length && (kept[next]?.[1] ?? 0) <= place) next++;
    const [keptFrom, keptTo] = kept[next] ?? [text.length, text.length];
    if (place >= keptFrom) {
      place = Math.max(keptTo, place + 1);
      continue;
    }
    const character = text[place];
    if (character !== "$" && character !== "\\") {
      place++;
      continue;
    }
    const range = formulaAt(text, place, ends);
    if (range !== undefined && range[0][1] <= keptFrom) {
      found.push(range);
      place = range[0][1];
    } else {
      // A backslash takes the character behind it along; of dollars all that stand together.
      place += character === "\\" || text[place + 1] === "$" ? 2 : 1;
    }
  }
  return found;
}

function formulaAt(text: string, from: number, ends: Ends): [Range, Formula] | undefined {
  const kind = KINDS.find((one) => text.startsWith(one.open, from));
  if (kind === undefined) return undefined;
  const start = from + kind.open.length;
  const end = ends.of(kind.close, start);
  if (end === undefined || end - start > LONGEST) return undefined;
  const source = text.slice(start, end);
  const to = end + kind.close.length;
  if (source.trim() === "" || isBroken(source)) return undefined;
  if (kind.open === "$" && isPrice(text[from - 1] ?? "", source, text[to] ?? "")) return undefined;
  return [
    [from, to],
    { source: source.trim(), written: text.slice(from, to), isDisplay: kind.isDisplay },
  ];
}

/** Whether a block of markdown ends within it, or the marks of a quotation stand between. */
function isBroken(source: string): boolean {
  return /\n[ \t]*(\n|>)/.test(source);
}

/** Whether the single dollars around it are no delimiters. */
function isPrice(before: string, source: string, behind: string): boolean {
  return /[\p{L}\p{N}]/u.test(before) || /^\s|\s$|\n/.test(source) || /[\p{L}\p{N}$]/u.test(behind);
}

/** Where the next closing delimiter stands; each is looked for once. */
class Ends {
  private readonly found = new Map<string, number>();

  constructor(private readonly text: string) {}

  of(close: string, from: number): number | undefined {
    let at = this.found.get(close) ?? -1;
    if (at < from && at !== Infinity) {
      at = this.after(close, from);
      this.found.set(close, at);
    }
    return at === Infinity ? undefined : at;
  }

  private after(close: string, from: number): number {
    let at = this.text.indexOf(close, from);
    while (at > 0 && this.isEscaped(at)) at = this.text.indexOf(close, at + 1);
    return at < 0 ? Infinity : at;
  }

  /** Whether an odd number of backslashes stands before it. */
  private isEscaped(at: number): boolean {
    let n = 0;
    while (this.text[at - 1 - n] === "\\") n++;
    return n % 2 === 1;
  }
}
