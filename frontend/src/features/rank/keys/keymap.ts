/** Which key does what: the defaults, and what a person has changed about them. */
import { labelOfKey } from "./press";

export const DEFAULT_KEYS = {
  submit: "enter",
  undo: "z",
  tie: "=",
  up: "arrowup",
  down: "arrowdown",
  take_back: "backspace",
  all_bad: "x",
  cannot_judge: "j",
  skip: "s",
  note: "n",
  diff: "v",
  raw: "r",
  guidelines: "o",
  previous: "arrowleft",
  next: "arrowright",
  scroll_up: "pageup",
  scroll_down: "pagedown",
  alone: "m",
  together: "y",
  prompt: "p",
  help: "?",
} as const;

export type Action = keyof typeof DEFAULT_KEYS;
export type Keymap = Readonly<Record<Action, string>>;

/** Each action once, in the order in which the shortcuts are listed. */
export const ACTIONS = Object.keys(DEFAULT_KEYS) as readonly Action[];

export const MEANINGS: Readonly<Record<Action, string>> = {
  submit: "submit; where there are criteria, go on to the next one",
  undo: "undo; right after submitting, reopen the last comparison",
  tie: "tie: the next letter shares the rank of the selected response",
  up: "move the selected response up; a tied response first leaves its tie",
  down: "move the selected response down; a tied response first leaves its tie",
  take_back: "remove the selected response from the ranking",
  all_bad: "all bad",
  cannot_judge: "cannot judge, then a digit for the reason",
  skip: "skip, with a reason",
  note: "add a note",
  diff: "compare two responses word by word",
  raw: "raw text instead of rendered markdown",
  guidelines: "guidelines",
  previous: "look at the previous response",
  next: "look at the next response",
  scroll_up: "scroll the response that you look at, or all of them, up",
  scroll_down: "scroll the response that you look at, or all of them, down",
  alone: "one response at a time, or all of them",
  together: "scroll all responses together",
  prompt:
    "show all of a long prompt, or only its last turn (if that is long, its beginning and end)",
  help: "show these shortcuts",
};

/** Whoever changes a key learns at once why one cannot be taken; null: it can. */
export function whyNot(keymap: Keymap, action: Action, name: string): string | null {
  const key = labelOfKey(name);
  if (/^[a-i]$/.test(name)) return `${key} is the letter of a response. Choose a key from J on.`;
  if (/^[0-9]$/.test(name))
    return `${key} moves the selected response to that rank. Choose a key that is not a digit.`;
  if (KEPT.has(name)) return `${key} belongs to the browser. Choose another key.`;
  const other = ACTIONS.find((one) => one !== action && keymap[one] === name);
  return other === undefined
    ? null
    : `${key} is taken: ${MEANINGS[other]}. Give that another key first.`;
}

// Without them nobody gets on by keyboard, or the browser does not hand them out.
const KEPT: ReadonlySet<string> = new Set([
  ...["tab", "escape", " ", "shift", "control", "alt", "altgraph", "meta", "capslock", "numlock"],
  ...["dead", "process", "unidentified", "compose", "contextmenu", "f5", "f11", "f12", "f6"],
]);

/** Whether a key is one that a person still has to press with another, such as Shift. */
export const isModifier = (name: string): boolean =>
  /^(shift|control|alt|altgraph|meta|capslock|numlock|compose|dead)$/.test(name);

/** The defaults with what was changed, as far as that still makes sense: no two actions share a key. */
export function keymapOf(changes: Readonly<Record<string, unknown>>): Keymap {
  let keymap: Keymap = DEFAULT_KEYS;
  const wanted = ACTIONS.filter((action) => typeof changes[action] === "string");
  // Two actions may have exchanged their keys: what is changed is in nobody's way.
  for (const action of wanted) keymap = { ...keymap, [action]: "" };
  for (const action of wanted) {
    const name = changes[action] as string;
    const isFree = name !== "" && name.length <= 20 && whyNot(keymap, action, name) === null;
    keymap = { ...keymap, [action]: isFree ? name : DEFAULT_KEYS[action] };
  }
  return new Set(Object.values(keymap)).size === ACTIONS.length ? keymap : DEFAULT_KEYS;
}

/** What differs from the defaults: all that needs to be kept. */
export const changesOf = (keymap: Keymap): Partial<Keymap> =>
  Object.fromEntries(
    ACTIONS.filter((action) => keymap[action] !== DEFAULT_KEYS[action]).map((action) => [
      action,
      keymap[action],
    ]),
  );
