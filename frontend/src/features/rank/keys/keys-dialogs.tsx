/** The shortcuts of the ranking page as this annotator has them, and where they are changed. */
import "./keys.css";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { meQuery } from "@/api/session";
import { Dialog } from "@/components/dialog";
import { ShortcutsDialog, type KeyHelp } from "@/components/shortcuts-dialog";

import {
  ACTIONS,
  DEFAULT_KEYS,
  isModifier,
  MEANINGS,
  whyNot,
  type Action,
  type Keymap,
} from "./keymap";
import { labelOfKey, nameOfKey, pressOf } from "./press";
import { keepKeymap, useKeymap } from "./keymap-store";

const NOT_KEPT = "This browser cannot keep your keys: they last until you close this tab.";

/** What can be done with the comparison on screen; its keys are listed, and no others. */
interface Here {
  readonly canSkip: boolean;
  /** Whether what was sent can be reopened or taken back: else Enter sends. */
  readonly canReopen: boolean;
}

const ONE_KEY_SENDS =
  "with two responses: submits at once, or goes on to the next criterion; " +
  "a judgment that you undo within 3 seconds is not sent";
const ONE_KEY_PLACES = "with two responses: ranks both, or goes on to the next criterion";

/** What each key does; the selected response is the one ranked or chosen last. */
function helpOf(keymap: Keymap, { canSkip, canReopen }: Here): KeyHelp {
  const key = (...actions: Action[]) => actions.map((one) => labelOfKey(keymap[one])).join(" ");
  const one = (action: Action) => [key(action), MEANINGS[action]] as const;
  return [
    ["A … I", "rank this response next and select it; if it is ranked, only select it"],
    one("tie"),
    [`A B ${key("tie", "all_bad")}`, canReopen ? ONE_KEY_SENDS : ONE_KEY_PLACES],
    ["1 … 9", "move the selected response to this rank (a tie if the rank is taken)"],
    [key("up", "down"), "move the selected response; a tied response first leaves its tie"],
    one("take_back"),
    one("submit"),
    canReopen ? one("undo") : [key("undo"), "undo"],
    one("all_bad"),
    one("cannot_judge"),
    ...(canSkip ? [one("skip")] : []),
    ["Shift A … I", "flag this response for readers of the judgment"],
    one("note"),
    one("diff"),
    one("raw"),
    one("guidelines"),
    [key("previous", "next"), "look at the previous or next response"],
    [
      `Space ${key("scroll_down", "scroll_up")}`,
      "scroll the response that you look at, or all of them; Shift Space scrolls up",
    ],
    one("together"),
    [key("alone"), `${MEANINGS.alone}; Escape shows all again`],
    one("prompt"),
    one("help"),
  ];
}

export function RankKeys({ onClose, ...here }: Here & { onClose: () => void }) {
  const keymap = useKeymap();
  const [isChanging, setChanging] = useState(false);
  if (isChanging) return <ChangeKeys onClose={onClose} />;
  return (
    <ShortcutsDialog
      keys={helpOf(keymap, here)}
      onClose={onClose}
      footer={
        <button type="button" className="btn" onClick={() => setChanging(true)}>
          Change keys
        </button>
      }
    />
  );
}

function ChangeKeys({ onClose }: { onClose: () => void }) {
  const keymap = useKeymap();
  const userId = useQuery(meQuery).data?.id ?? "";
  const [asked, setAsked] = useState<Action | null>(null);
  const [told, setTold] = useState("");
  const keep = (changed: Keymap, done: string) =>
    setTold(keepKeymap(userId, changed) ? done : NOT_KEPT);
  const take = (action: Action, name: string) => {
    const refusal = whyNot(keymap, action, name);
    if (refusal !== null) return setTold(refusal);
    setAsked(null);
    keep({ ...keymap, [action]: name }, `${labelOfKey(name)}: ${MEANINGS[action]}.`);
  };
  useAskedKey(asked, take, () => setAsked(null));
  return (
    <Dialog
      title="Change keys"
      onClose={onClose}
      className="change-keys"
      footer={
        <>
          <span className="small grow" role="status">
            {told}
          </span>
          <button type="button" className="btn ghost" onClick={() => keep(DEFAULT_KEYS, RESET)}>
            Reset all keys
          </button>
          <button type="button" className="btn primary" onClick={onClose}>
            Done
          </button>
        </>
      }
    >
      <p className="muted">
        Choose an action, then press its new key. The letters of responses and the digits of ranks
        cannot be changed. Your keys are kept in this browser, for you alone.
      </p>
      <dl className="keys">
        {ACTIONS.map((action) => (
          <div key={action} className="pair">
            <dt>
              <button
                type="button"
                className="btn choice"
                aria-pressed={asked === action}
                aria-label={`${asked === action ? "Press a key…" : labelOfKey(keymap[action])}: ${MEANINGS[action]}`}
                onClick={() => setAsked(asked === action ? null : action)}
              >
                {asked === action ? "Press a key…" : <kbd>{labelOfKey(keymap[action])}</kbd>}
              </button>
            </dt>
            <dd>{MEANINGS[action]}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const RESET = "All keys have their defaults again.";

/** While a key is asked for, the next one that is pressed is the answer; Escape withdraws. */
function useAskedKey(
  asked: Action | null,
  take: (action: Action, name: string) => void,
  withdraw: () => void,
): void {
  useEffect(() => {
    if (asked === null) return;
    const press = (event: KeyboardEvent) => {
      const name = nameOfKey(pressOf(event));
      if (isModifier(name) || name === "tab") return;
      event.preventDefault();
      event.stopPropagation();
      if (name === "escape") withdraw();
      else if (!event.repeat) take(asked, name);
    };
    window.addEventListener("keydown", press, true);
    return () => window.removeEventListener("keydown", press, true);
  });
}
