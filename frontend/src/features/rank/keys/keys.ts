/** Which key means what on the ranking page; pure, so the whole grammar is tested without a browser. */
import { ACTIONS, DEFAULT_KEYS, type Action, type Keymap } from "./keymap";
import { digitOfKey, letterOfKey, typedOf, type Key } from "./press";
import type { Move, Ranking } from "../ranking/ranking";

export type { Key } from "./press";

export type Command =
  | { kind: "move"; move: Move }
  | { kind: "submit" | "undo" | "skip" | "note" | "diff" | "guidelines" | "help" | "raw" }
  | { kind: "alone" | "together" | "prompt" }
  | { kind: "focus" | "scroll"; by: -1 | 1 };

/** What each action does, by key or by mouse. */
export const COMMANDS: Readonly<Record<Action, Command>> = {
  submit: { kind: "submit" },
  undo: { kind: "undo" },
  skip: { kind: "skip" },
  note: { kind: "note" },
  diff: { kind: "diff" },
  guidelines: { kind: "guidelines" },
  raw: { kind: "raw" },
  help: { kind: "help" },
  all_bad: { kind: "move", move: { kind: "verdict", verdict: "all_bad" } },
  cannot_judge: { kind: "move", move: { kind: "verdict", verdict: "cannot_judge" } },
  tie: { kind: "move", move: { kind: "tie" } },
  take_back: { kind: "move", move: { kind: "takeBack" } },
  up: { kind: "move", move: { kind: "shift", by: -1 } },
  down: { kind: "move", move: { kind: "shift", by: 1 } },
  previous: { kind: "focus", by: -1 },
  next: { kind: "focus", by: 1 },
  scroll_up: { kind: "scroll", by: -1 },
  scroll_down: { kind: "scroll", by: 1 },
  alone: { kind: "alone" },
  together: { kind: "together" },
  prompt: { kind: "prompt" },
};

/**
 * The command of a key press, or null if the key is not ours (browser shortcuts stay theirs).
 * `reasons` are those of the project for "cannot judge", which digits choose.
 */
export function commandOf(
  key: Key,
  ranking: Ranking,
  reasons: readonly string[],
  keymap: Keymap = DEFAULT_KEYS,
): Command | null {
  const letter = letterOfKey(key);
  if (key.ctrlKey || key.metaKey || key.altKey)
    return letter === "z" && !key.altKey ? { kind: "undo" } : null;
  if (key.key === " ") return { kind: "scroll", by: key.shiftKey ? -1 : 1 };
  // First what is typed: "=" and "?" stand on the digits and letters of other layouts.
  const named = commandNamed(typedOf(key), keymap);
  if (named !== null) return named;
  if (letter !== null)
    return commandOfCard(letter, key.shiftKey, ranking) ?? commandNamed(letter, keymap);
  const digit = digitOfKey(key);
  return digit === null ? null : commandOfDigit(digit, ranking, reasons);
}

function commandOfCard(letter: string, isFlag: boolean, ranking: Ranking): Command | null {
  const card = letter.charCodeAt(0) - 97;
  if (card >= ranking.count) return null;
  return { kind: "move", move: { kind: isFlag ? "flag" : "letter", card } };
}

/** Whether holding a key down does it again and again. */
export const isRepeatable = (command: Command): boolean =>
  command.kind === "focus" ||
  command.kind === "scroll" ||
  (command.kind === "move" && REPEATED.has(command.move.kind));

const REPEATED: ReadonlySet<Move["kind"]> = new Set(["shift", "takeBack"]);

function commandNamed(name: string, keymap: Keymap): Command | null {
  const action = ACTIONS.find((one) => keymap[one] === name);
  return action === undefined ? null : COMMANDS[action];
}

function commandOfDigit(
  digit: number,
  ranking: Ranking,
  reasons: readonly string[],
): Command | null {
  if (ranking.verdict !== "cannot_judge")
    return { kind: "move", move: { kind: "digit", rank: digit } };
  const reason = reasons[digit - 1];
  return reason === undefined ? null : { kind: "move", move: { kind: "reason", reason } };
}
