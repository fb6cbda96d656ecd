/** Which key means what on the ranking page; pure, so the whole grammar is tested without a browser. */
import type { Move, Ranking } from "./ranking";

export type Command =
  | { kind: "move"; move: Move }
  | { kind: "submit" | "undo" | "skip" | "note" | "diff" | "guidelines" | "help" | "raw" }
  | { kind: "alone" | "together" | "prompt" }
  | { kind: "focus" | "scroll"; by: -1 | 1 };

export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const ACTIONS: Readonly<Record<string, Command>> = {
  enter: { kind: "submit" },
  z: { kind: "undo" },
  s: { kind: "skip" },
  n: { kind: "note" },
  v: { kind: "diff" },
  o: { kind: "guidelines" },
  r: { kind: "raw" },
  m: { kind: "alone" },
  y: { kind: "together" },
  p: { kind: "prompt" },
  "?": { kind: "help" },
  x: { kind: "move", move: { kind: "verdict", verdict: "all_bad" } },
  j: { kind: "move", move: { kind: "verdict", verdict: "cannot_judge" } },
  "=": { kind: "move", move: { kind: "tie" } },
  backspace: { kind: "move", move: { kind: "takeBack" } },
  arrowup: { kind: "move", move: { kind: "shift", by: -1 } },
  arrowdown: { kind: "move", move: { kind: "shift", by: 1 } },
  arrowleft: { kind: "focus", by: -1 },
  arrowright: { kind: "focus", by: 1 },
  pagedown: { kind: "scroll", by: 1 },
  pageup: { kind: "scroll", by: -1 },
};

/**
 * The command of a key press, or null if the key is not ours (browser shortcuts stay theirs).
 * `reasons` are those of the project for "cannot judge", which digits choose.
 */
export function commandOf(key: Key, ranking: Ranking, reasons: readonly string[]): Command | null {
  const name = key.key.toLowerCase();
  if ((key.ctrlKey || key.metaKey) && name === "z") return { kind: "undo" };
  if (key.ctrlKey || key.metaKey || key.altKey) return null;
  if (name === " ") return { kind: "scroll", by: key.shiftKey ? -1 : 1 };
  const card = name.length === 1 ? name.charCodeAt(0) - 97 : -1;
  if (card >= 0 && card < ranking.count)
    return { kind: "move", move: key.shiftKey ? { kind: "flag", card } : { kind: "letter", card } };
  if (/^[0-9]$/.test(name)) return digit(Number(name), ranking, reasons);
  return ACTIONS[name] ?? null;
}

function digit(n: number, ranking: Ranking, reasons: readonly string[]): Command | null {
  if (ranking.verdict !== "cannot_judge") return { kind: "move", move: { kind: "digit", rank: n } };
  const reason = reasons[n - 1];
  return reason === undefined ? null : { kind: "move", move: { kind: "reason", reason } };
}
