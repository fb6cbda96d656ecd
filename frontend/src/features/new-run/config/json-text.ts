/** A config as text and back, with the place of a mistake in every browser's words. Pure. */
import type { Json, JsonObject } from "@/api/types";

import { isObject } from "./schema";

export type Parsed =
  | { readonly config: JsonObject; readonly mistake: null }
  | { readonly config: null; readonly mistake: string };

export function parsedConfig(text: string): Parsed {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return { config: null, mistake: placed(text) };
  }
  if (isObject(value)) return { config: value, mistake: null };
  return {
    config: null,
    mistake: 'A config must be a JSON object, for example {"method": "sft", ...}.',
  };
}

function placed(text: string): string {
  const { at, expected } = firstMistake(text);
  const before = text.slice(0, at).split("\n");
  const found = at >= text.length ? "the text ends" : `found ${quoted(text.charAt(at))}`;
  const column = (before.at(-1) ?? "").length + 1;
  return `Line ${before.length}, column ${column}: ${found}, expected ${expected}.`;
}

const quoted = (character: string) => (character === '"' ? "a quotation mark" : `"${character}"`);

const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const KEY = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;

/** Browsers tell the place in different words, or not at all; so we look for it ourselves. */
class Reader {
  at = 0;
  constructor(private readonly text: string) {}

  value(): void {
    this.space();
    if (this.takes("{")) this.members("}", () => this.member());
    else if (this.takes("[")) this.members("]", () => this.value());
    else this.match(SCALAR, "a value");
    this.space();
  }

  end(): void {
    if (this.at < this.text.length) throw new Mistake(this.at, "nothing more");
  }

  private members(close: string, item: () => void): void {
    this.space();
    if (this.takes(close)) return;
    do item();
    while (this.takes(","));
    if (!this.takes(close)) throw new Mistake(this.at, `"," or "${close}"`);
  }

  private member(): void {
    this.space();
    this.match(KEY, 'a key in "quotes"');
    this.space();
    if (!this.takes(":")) throw new Mistake(this.at, "a colon");
    this.value();
  }

  private match(pattern: RegExp, expected: string): void {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) throw new Mistake(this.at, expected);
    this.at = pattern.lastIndex;
  }

  private takes(character: string): boolean {
    const isNext = this.text.charAt(this.at) === character;
    if (isNext) this.at += 1;
    return isNext;
  }

  private space(): void {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
  }
}

class Mistake extends Error {
  constructor(
    readonly at: number,
    readonly expected: string,
  ) {
    super(expected);
  }
}

function firstMistake(text: string): { at: number; expected: string } {
  const reader = new Reader(text);
  try {
    reader.value();
    reader.end();
  } catch (error) {
    if (error instanceof Mistake) return error;
    throw error;
  }
  return { at: reader.at, expected: "JSON" };
}
