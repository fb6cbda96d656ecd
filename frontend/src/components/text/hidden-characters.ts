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

const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
    "\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0" +
    "\\ufff9-\\ufffb\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
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

/** In these scripts, and within emoji, a joiner between two characters shapes what is seen. */
const SHAPED =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f]/u;

function isShaping(text: string, at: number): boolean {
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
  const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  return SHAPED.test(before) && SHAPED.test(after);
}

function described(character: string): Hidden {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const [name, title] = NAMES[code] ?? [number, "a character that cannot be seen"];
  return { name, title: `${title}, ${number}` };
}

/** The text, cut at each hidden character, which is replaced by its description. */
export function revealed(text: string): readonly (string | Hidden)[] {
  const parts: (string | Hidden)[] = [];
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const [character] = found;
    const isJoiner = character === "\u200c" || character === "\u200d";
    if (isJoiner && isShaping(text, found.index)) continue;
    if (found.index > from) parts.push(text.slice(from, found.index));
    parts.push(described(character));
    from = found.index + character.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}
