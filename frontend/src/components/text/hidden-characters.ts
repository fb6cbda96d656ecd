/**
 * Characters that nobody sees: they separate, join, turn the direction of what follows, or do
 * nothing at all. Shown as they are, two responses that differ would look the same, and one that
 * turns the direction of its text would read as another.
 */

/** A character that cannot be seen, by the short name that Unicode or its code gives it. */
export interface Hidden {
  readonly name: string;
  readonly title: string;
}

/** Controls, ends of lines and paragraphs, an empty pattern of Braille, and what no font shows. */
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u2800\\ufff9-\\ufffb" +
    "\\p{Default_Ignorable_Code_Point}]",
  "gu",
);

const NAMES: Readonly<Record<number, readonly [string, string]>> = {
  0x00ad: ["SHY", "soft hyphen"],
  0x061c: ["ALM", "Arabic letter mark"],
  0x200b: ["ZWSP", "zero-width space"],
  0x200c: ["ZWNJ", "zero-width non-joiner"],
  0x200d: ["ZWJ", "zero-width joiner"],
  0x200e: ["LRM", "left-to-right mark"],
  0x200f: ["RLM", "right-to-left mark"],
  0x2028: ["LS", "line separator"],
  0x2029: ["PS", "paragraph separator"],
  0x202a: ["LRE", "left-to-right embedding"],
  0x202b: ["RLE", "right-to-left embedding"],
  0x202c: ["PDF", "end of directional formatting"],
  0x202d: ["LRO", "left-to-right override"],
  0x202e: ["RLO", "right-to-left override"],
  0x2060: ["WJ", "word joiner"],
  0x2066: ["LRI", "left-to-right isolate"],
  0x2067: ["RLI", "right-to-left isolate"],
  0x2068: ["FSI", "first strong isolate"],
  0x2069: ["PDI", "end of directional isolate"],
  0xfeff: ["BOM", "byte order mark"],
};

/** A variation selector asks for another form of the character before it, which few fonts have. */
function variant(code: number): readonly [string, string] | undefined {
  const number = code - 0xfdff;
  if (number < 1 || number > 16) return undefined;
  return [`VS${number.toString()}`, `variation selector ${number.toString()}`];
}

/** In these scripts, and within emoji, a joiner between two characters shapes what is seen. */
const SHAPED =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f]/u;

const before = (text: string, at: number) => [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";

function isShaping(text: string, at: number): boolean {
  const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  return SHAPED.test(before(text, at)) && SHAPED.test(after);
}

/** Whether a symbol before it is drawn as text or in colour by it, which is seen. */
function isChoosingLook(text: string, at: number): boolean {
  const symbol = before(text, at);
  const isKeyCap = /[0-9#*]/.test(symbol) && text[at + 1] === "\u20e3";
  return isKeyCap || /\p{Extended_Pictographic}/u.test(symbol);
}

/** Whether it changes what is seen around it. */
function isSeen(character: string, text: string, at: number): boolean {
  if (character === "\u200c" || character === "\u200d") return isShaping(text, at);
  return (character === "\ufe0e" || character === "\ufe0f") && isChoosingLook(text, at);
}

function described(character: string): Hidden {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const [name, title] = NAMES[code] ?? variant(code) ?? [number, "a character that cannot be seen"];
  return { name, title: `${title}, ${number}` };
}

/** More than so many of one kind after another are one mark that says how many. */
const MOST_ALIKE = 8;

/** So many marks of a text are drawn; a page with a hundred thousand stands still for half a minute. */
const MOST_MARKS = 2000;

/** Hidden characters of one kind after another: where they begin and end, and how many they are. */
interface Row {
  readonly character: string;
  readonly at: number;
  end: number;
  n: number;
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (isSeen(character, text, index)) continue;
    const end = index + character.length;
    const last = rows.at(-1);
    if (last?.character === character && last.end === index) {
      last.end = end;
      last.n++;
    } else rows.push({ character, at: index, end, n: 1 });
  }
  return rows;
}

function marksOf({ character, n }: Row): Hidden[] {
  const one = described(character);
  if (n <= MOST_ALIKE) return Array.from({ length: n }, () => one);
  const times = `× ${n.toString()}`;
  return [{ name: `${one.name} ${times}`, title: `${one.title}, ${times}` }];
}

/** Whether more marks would stand in it than are drawn of a text. */
export function hasManyMarks(text: string): boolean {
  const marks = rowsOf(text).reduce((sum, { n }) => sum + (n <= MOST_ALIKE ? n : 1), 0);
  return marks > MOST_MARKS;
}

/**
 * The text, cut at each hidden character, which is replaced by its description. Behind many marks
 * the others stand as text, between brackets.
 */
export function revealed(text: string): readonly (string | Hidden)[] {
  const parts: (string | Hidden)[] = [];
  let [from, left, plain] = [0, MOST_MARKS, ""];
  for (const row of rowsOf(text)) {
    plain += text.slice(from, row.at);
    for (const mark of marksOf(row))
      if (left-- > 0) {
        if (plain !== "") parts.push(plain);
        plain = "";
        parts.push(mark);
      } else plain += `⟦${mark.name}⟧`;
    from = row.end;
  }
  plain += text.slice(from);
  if (plain !== "") parts.push(plain);
  return parts;
}
