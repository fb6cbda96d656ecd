/** The selectors of a stylesheet, and which elements they ask for. */
import type { Element } from "./modules";

/** Parts of a text between separators; those inside of brackets do not count. */
function split(text: string, separator: RegExp): string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    if (/[([]/.test(letter)) depth += 1;
    if (/[)\]]/.test(letter)) depth -= 1;
    if (depth === 0 && separator.test(letter)) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const ARGUMENTS = String.raw`\(((?:[^()]|\([^()]*\))*)\)`;
const IS = new RegExp(`:(?:is|where)${ARGUMENTS}`);
const HAS = new RegExp(`:has${ARGUMENTS}`);
const NOT = new RegExp(`:not${ARGUMENTS}`, "g");

/** A selector without `:is()` and `:where()`: one for each of their alternatives. */
function spelledOut(selector: string): string[] {
  const found = IS.exec(selector);
  if (found === null) return [selector];
  const [whole, alternatives = ""] = found;
  return split(alternatives, /,/).flatMap((one) => spelledOut(selector.replace(whole, () => one)));
}

export function selectorsOf(css: string): string[] {
  const heads = css.replace(/\/\*[^]*?\*\//g, "").matchAll(/([^{};]+)\{/g);
  return [...heads]
    .map(([, head = ""]) => head.trim())
    .filter((head) => !/^(@|from\b|to\b|\d)/.test(head))
    .flatMap((head) => split(head, /,/))
    .flatMap(spelledOut);
}

/** Elements without which a selector matches nothing, by their tags and classes alone. */
export function neededBy(selector: string): Element[] {
  return split(selector, /[\s>+~]/).flatMap((compound) => {
    const inside = HAS.exec(compound.replaceAll(NOT, ""))?.[1];
    const plain = compound.replace(/:.*|\[[^\]]*\]/g, "");
    const classes = [...plain.matchAll(/\.([\w-]+)/g)].map(([, name = ""]) => name);
    const element = { tag: /^[a-z]\w*/.exec(plain)?.[0] ?? null, classes: new Set(classes) };
    return inside === undefined ? [element] : [element, ...neededBy(inside)];
  });
}

export function isLike(element: Element, needed: Element): boolean {
  const isOfTag = needed.tag === null || element.tag === null || needed.tag === element.tag;
  return isOfTag && [...needed.classes].every((name) => element.classes.has(name));
}
