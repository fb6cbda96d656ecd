/**
 * What somebody pressed, whatever the layout of the keyboard.
 *
 * A key is the letter a-z that it types; where it types none, as on a Cyrillic or an Arabic layout,
 * it is the letter that stands there on a US keyboard. Digits are told by their place, too: the row
 * above the letters types others without Shift on AZERTY. Other keys are what they type.
 */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** With AltGr a key types a sign of its own, so its place says nothing. */
  readonly isAltGraph?: boolean;
}

/** A key press of the browser. */
export const pressOf = (event: KeyboardEvent): Key => ({
  key: event.key,
  code: event.code,
  shiftKey: event.shiftKey,
  ctrlKey: event.ctrlKey,
  metaKey: event.metaKey,
  altKey: event.altKey,
  isAltGraph: event.getModifierState("AltGraph"),
});

type Typed = Pick<Key, "key" | "code" | "shiftKey" | "isAltGraph">;

/** What is typed, in one spelling: full-width and Arabic forms are those of ASCII. */
export const typedOf = ({ key }: Typed): string =>
  key.normalize("NFKC").toLowerCase().replace("؟", "?");

/** The letter of a key, lower case, or null. */
export function letterOfKey(pressed: Typed): string | null {
  const typed = typedOf(pressed);
  if (/^[a-z]$/.test(typed)) return typed;
  if (pressed.isAltGraph === true) return null;
  return /^Key([A-Z])$/.exec(pressed.code)?.[1]?.toLowerCase() ?? null;
}

/** The digit of a key, or null: the number pad has arrows without Num Lock, the row signs with Shift. */
export function digitOfKey(pressed: Typed): number | null {
  const typed = typedOf(pressed);
  if (/^[0-9]$/.test(typed)) return Number(typed);
  const place = /^(Digit|Numpad)([0-9])$/.exec(pressed.code);
  if (place === null || pressed.shiftKey) return null;
  return place[1] === "Numpad" && typed.length > 1 ? null : Number(place[2]);
}

/** What a key is called in a keymap: a letter, or what it types ("=", "enter", "arrowup"). */
export function nameOfKey(pressed: Typed): string {
  const typed = typedOf(pressed);
  const digit = digitOfKey(pressed);
  if (digit !== null) return String(digit);
  return /^[!-~]$/.test(typed) ? typed : (letterOfKey(pressed) ?? typed);
}

const WORDS: Readonly<Record<string, string>> = {
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  pageup: "PageUp",
  pagedown: "PageDown",
};

/** How a key of a keymap reads on a screen: "Z", "=", "Enter", "↑". */
export const labelOfKey = (name: string): string =>
  WORDS[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
