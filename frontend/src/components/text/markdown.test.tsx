// @vitest-environment window
/** Whatever another parser of CommonMark finds in a text stands on the card, in order. */
import { Parser } from "commonmark";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { seededChance, type Chance } from "@/lib/seeded-chance";

import { loadLateParts } from "./late/parts";
import { LONGEST, Markdown } from "./markdown";

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

const parser = new Parser();

let place: HTMLDivElement;
let root: Root;

beforeAll(async () => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  await loadLateParts();
});

afterAll(() => {
  act(() => {
    root.unmount();
  });
});

function shown(text: string): HTMLDivElement {
  act(() => {
    root.render(<Markdown key={text} text={text} />);
  });
  return place;
}

it("draws a bounded number of marks, however a text is cut into paragraphs", () => {
  const card = shown(`${"a\u200b".repeat(1000)}\n\n`.repeat(4));

  expect(card.querySelectorAll(".hidden-character")).toHaveLength(2000);
  expect(card.textContent.match(/ZWSP/g)).toHaveLength(4000);
});

/** In order of the alphabet: a formula draws a limit above what it is for, and an i below an accent. */
function lettersOf(text: string): string {
  const plain = text.normalize("NFKD").replaceAll("ı", "i");
  return (plain.match(/[\p{L}\p{N}]/gu) ?? []).sort().join("");
}

/** The source of a formula that is typeset, if its letters were drawn; else what was. */
function drawn(formula: HTMLElement): string {
  const found = formula.querySelector(".katex-html")?.textContent ?? "";
  const written = formula.title.replace(/\\([a-zA-Z@]+|.)/g, "");
  return lettersOf(found) === lettersOf(written) ? formula.title : found;
}

/** What is on the card; of a typeset formula its source, of a mark the character that it stands for. */
function words(card: HTMLElement): string {
  const copy = card.cloneNode(true) as HTMLElement;
  for (const formula of copy.querySelectorAll<HTMLElement>(".formula:has(.katex)"))
    formula.replaceChildren(drawn(formula));
  for (const mark of copy.querySelectorAll<HTMLElement>(".hidden-character")) {
    const code = /U\+([0-9A-F]+)$/.exec(mark.title)?.[1] ?? "";
    mark.replaceChildren(String.fromCodePoint(parseInt(code, 16)));
  }
  return copy.textContent;
}

interface Found {
  readonly text: string;
  readonly isTarget: boolean;
}

/** The literals and link targets that the other parser finds, in order. */
function literals(text: string, bare: (text: string) => string): Found[] {
  const found: Found[] = [];
  const walker = parser.parse(text).walker();
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event;
    const said = entering ? [node.info ?? "", node.literal ?? ""] : [];
    found.push(...said.map((one) => ({ text: bare(one), isTarget: false })));
    const target = entering ? "" : bare(node.destination ?? "");
    if (target !== "") found.push({ text: target, isTarget: true });
  }
  return found;
}

function asIs(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURI(text);
  } catch {
    // Not an address.
  }
  // Lines of tables and tildes mean something on GitHub, whose additions are shown.
  return decoded.replace(/[\s\u0000\ufffd|~-]/gu, "");
}

/**
 * Without what begins and ends formulas, which only one of the parsers knows, and without stars and
 * underscores: whether one beside a formula is emphasis depends on that.
 */
const undelimited = (text: string) => asIs(text).replace(/[$()[\]\\*_]/g, "");

/** The first literal that does not stand on the card behind the ones before it. */
function missing(text: string, bare: (text: string) => string = asIs): string | undefined {
  const card = bare(words(shown(text)));
  let from = 0;
  for (const { text: literal, isTarget } of literals(text, bare)) {
    if (isTarget) {
      // Where it leads stands behind its text, which may say so itself; the two parsers disagree on
      // which brackets are a reference, whose definition stands on the card.
      const isBehind = card.slice(from).search(/[(,]/) === 0 && card.startsWith(literal, from + 1);
      if (isBehind) from += 1 + literal.length;
      else if (!card.includes(literal)) return `${literal} is not in ${card}`;
      continue;
    }
    // Which brackets are a reference the two parsers do not always agree on: after a tag on a line
    // that lazily goes on with a quote, one sees a paragraph and the other a definition.
    const isBracket = literal === "[" || literal === "]";
    if (isBracket && !card.startsWith(literal, from) && card.includes(literal)) continue;
    const at = card.indexOf(literal, from);
    if (at < 0) return `${literal} is not in ${card.slice(from)}`;
    from = at + literal.length;
  }
  return undefined;
}

describe("what is written stands on the card", () => {
  it.each([
    ["<answer>42</answer>", "<answer>42</answer>"],
    ["a List<String> of", "a List<String> of"],
    ["a <b and c> d", "a <b and c> d"],
    ["<div>", "<div>"],
    ["<!-- hidden -->", "<!-- hidden -->"],
    ["[id]: https://a.test 'title'", '[id]: https://a.test "title"'],
    ["[here](https://a.test/b)", "here (https://a.test/b)"],
    ["[here](javascript:alert(1))", "here (javascript:alert(1))"],
    ["![a cat](https://a.test/cat.png)", "[image: a cat, https://a.test/cat.png]"],
    ["- [x] done", "[x] done"],
    ["so[^1]\n\n[^1]: why", "so^1 (why)"],
    ["$5 and $10", "$5 and $10"],
    ["~5~ and ~10~", "~5~ and ~10~"],
    ["~~~ a&nbsp;!)( b\nx", "a\u00a0!)( b"],
    ["it costs 5$ or 10$ now", "it costs 5$ or 10$ now"],
  ])("%s", (text, expected) => {
    expect(shown(text).textContent).toContain(expected);
  });

  it("keeps all cells of a row that has more than the head", () => {
    const card = shown("| a | b |\n|---|---|\n| 1 | 2 | 3 |");
    expect([...card.querySelectorAll("td")].map((one) => one.textContent)).toEqual(["1", "2", "3"]);
  });

  it("keeps single line breaks", () => {
    expect(shown("one\ntwo").querySelectorAll("br")).toHaveLength(1);
  });

  it("says the language of a block of code, and all else that stands beside it", () => {
    expect(shown('```python title="a"\nx = 1\n```').textContent).toBe('python title="a"x = 1');
    expect(place.querySelector(".hljs-number")?.textContent).toBe("1");
  });

  it.each(["", " ", "\n\n", ">", "-", "&nbsp;", "```\n```", "#"])(
    "says that it is empty: %j",
    (text) => {
      expect(shown(text).textContent).toContain("Nothing to read here");
    },
  );

  it.each([
    ["a\u202eb", "aRLOb"],
    ["pass\u200bword", "passZWSPword"],
    ["`a\u200bb`", "aZWSPb"],
    ["```\na\u00adb\n```", "aSHYb"],
    ["a\u{e0041}b", "aU+E0041b"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["👩\u200d💻", "👩\u200d💻"],
    ["a\ufe00", "aVS1"],
    ["a\ufe0f\ufe0e", "aVS16VS15"],
    ["`a\ufe07b`", "aVS8b"],
    ["\ufe0fa", "VS16a"],
    ["a1\ufe0f", "a1VS16"],
    ["❤\ufe0f and ☎\ufe0e", "❤\ufe0f and ☎\ufe0e"],
    ["❤\ufe0f\ufe0f", "❤\ufe0fVS16"],
    ["❤\ufe01", "❤VS2"],
    ["🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"],
    ["1\ufe0f\u20e3 or \\*\ufe0f\u20e3", "1\ufe0f\u20e3 or *\ufe0f\u20e3"],
    ["a\ufff3b\u{1bca0}", "aU+FFF3bU+1BCA0"],
  ])("marks what cannot be seen: %j", (text, expected) => {
    expect(shown(text).textContent).toBe(expected);
  });
});

describe("direction", () => {
  // Each block of a text begins where its own script does.
  it.each([
    ["# שלום!", "h1"],
    ["## שלום!", "h2"],
    ["שלום\n---", "h2"],
    ["### שלום!", "h3"],
    ["#### שלום!", "h4"],
    ["##### שלום!", "h5"],
    ["###### שלום!", "h6"],
    ["שלום", "p"],
    ["> שלום", "blockquote"],
    ["- שלום", "li"],
    ["| שלום |\n|---|", "th"],
    ["| a |\n|---|\n| שלום |", "td"],
  ])("is that of its own letters: %s", (text, tag) => {
    expect(shown(text).querySelector(tag)?.getAttribute("dir")).toBe("auto");
  });

  // The letters of its name would make a Hebrew line that begins with a mark one from left to right.
  it.each(["\u200fשלום", "```\n\u200fשלום\n```"])("is not that of a mark: %j", (text) => {
    expect(shown(text).querySelector(".hidden-character")?.getAttribute("dir")).toBe("ltr");
  });
});

describe("formulas", () => {
  it.each([
    ["$x^2$", "x^2"],
    ["$$\\frac{a}{b}$$", "\\frac{a}{b}"],
    ["\\(a_1 + a_2\\)", "a_1 + a_2"],
    ["\\[\na*b*c\n\\]", "a*b*c"],
    ["**$x$**", "x"],
    ["| a |\n|---|\n| $x_1$ |", "x_1"],
  ])("are typeset: %s", (text, source) => {
    const formula = shown(text).querySelector<HTMLElement>(".formula");
    expect(formula?.title).toBe(source);
    expect(formula?.querySelector(".katex annotation")?.textContent).toBe(source);
  });

  it.each(["`$x$`", "```\n$x$\n```", "    $x$", "\\$x$", "[a](http://b.test/$x$)", "<a b='$x$'>"])(
    "are none in %s",
    (text) => {
      expect(shown(text).querySelector(".formula")).toBeNull();
      expect(missing(text)).toBeUndefined();
    },
  );

  it.each([
    ["$\\frac{1$", "\\frac{1"],
    ["$\\color{white}{no}$", "\\color{white}{no}"],
    ["$\\mathchoice{yes}{no}{}{}$", "\\mathchoice{yes}{no}{}{}"],
    ["$x\u202eyz$", "xRLOyz"],
    ["$\\text{a\u200bb}$", "\\text{aZWSPb}"],
  ])("that are wrong or would hide something are shown as written: %j", (text, expected) => {
    const formula = shown(text).querySelector<HTMLElement>(".formula");
    expect(formula?.querySelector(".katex")).toBeNull();
    expect(formula?.textContent).toBe(expected);
  });
});

const PIECES = [
  "word", "Ünïcode", "漢字", "שלום", "*", "**", "_", "`", "``", "~~", "\n", "\n\n", "\n> ", "\n- ", "\n1. ",
  "\n# ", "\n    ", "\n```\n", "\n```js\n", "\n---\n", "<answer>", "</answer>",
  "<div>\n", "<!-- x -->", "<br/>", "List<String>", "a < b", "&amp;", "&lt;", "&nbsp;", "&#0;", "[a](http://b.test)",
  "[a](<b c> 'd')", "[a][b]", "\n\n[b]: /url\n\n", "![i](p.png)", "<http://auto.test>", "\\", "\\*", "[", "]", "(", ")",
  "!", "|", ":", "\u200b", "\u202e", " ", "  ", "  \n", "\t", "<script>alert(1)</script>", "javascript:alert(1)",
  "<think>", "</think>", "http://bare.test", "a@b.test", "\n[^1]: note\n", "[^1]", "- [ ] ", "🙂",
]; // prettier-ignore
const MATHS = [
  "$x$", "$a_1$", "$$\ny\n$$", "\\(z\\)", "\\[w\\]", "$", "$5", "$10 ", "$\\frac{q}{2}$", "$\\text{so $s$}$",
  "$\\mathchoice{yes}{no}{}{}$", "$\\TextOrMath{yes}{no}$", "$\\@firstoftwo{yes}{no}$", "$\\phantom{no}$", "$a %no$",
  "$\\@ifnextchar x{yes}{no}x$", "$\\grayA{no}$", "$$yes\\\\[-2em]no$$", "$yes\\tmspace-{9mu}{9em}no$", "$v\u202ew$",
  "$\\text{v\u200bw}$", "$\\alpha\\def\\b{c}$", "$\\message{no}v$", "$\\char\"41 v$",
]; // prettier-ignore
/** As many formulas as all else, without entities: a formula keeps those as they are written. */
const MATHS_AMONG = PIECES.filter((piece) => !piece.startsWith("&")).flatMap((piece, n) => [
  piece,
  MATHS[n % MATHS.length] ?? "",
]);

function generated(random: Chance, pieces: readonly string[]): string {
  const length = 1 + Math.floor(random() ** 2 * 60);
  const parts = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)] ?? "");
  return parts.join("").slice(0, 2000);
}

// `make chaos` takes ten thousand.
describe("generated texts", { timeout: 30 * 60_000 }, () => {
  const count = Number(process.env["PODIUM_TEXTS"] ?? 300);

  it("lose nothing", () => {
    const random = seededChance(1);
    const wrong: { text: string; problem: string }[] = [];
    for (let n = 0; n < count; n++) {
      const text = generated(random, PIECES);
      const problem =
        missing(text) ?? (words(place).trim() === "" ? "nothing is shown" : undefined);
      if (problem !== undefined) wrong.push({ text, problem });
    }
    expect(wrong).toEqual([]);
  });

  // The other parser finds a formula's source between its delimiters.
  it("lose nothing of their formulas", () => {
    const random = seededChance(3);
    const wrong: { text: string; problem: string }[] = [];
    let formulas = 0;
    for (let n = 0; n < count; n++) {
      const text = generated(random, MATHS_AMONG);
      const problem = missing(text, undelimited);
      formulas += place.querySelectorAll(".formula").length;
      if (problem !== undefined) wrong.push({ text, problem });
    }
    expect(wrong).toEqual([]);
    expect(formulas).toBeGreaterThan(count);
  });

  it("hold no element that could run, load or leave", () => {
    const random = seededChance(2);
    for (let n = 0; n < count / 4; n++) {
      const card = shown(generated(random, [...PIECES, ...MATHS]));
      expect(
        card.querySelector("script, img, iframe, object, form, input, style, link"),
      ).toBeNull();
      for (const link of card.querySelectorAll("a")) expect(link.href).toMatch(/^https?:/);
    }
  });
});

it("shows very long texts as they were written", () => {
  const text = "<b>*x* ".repeat(LONGEST / 6);
  expect(shown(text).textContent).toContain(text);
});
