/** The keys of actions as this annotator has them, for sentences and the titles of buttons. */
import { useHasSingleLetters } from "@/lib/shortcuts/single-letter";

import type { Action } from "./keymap";
import { labelOfKey } from "./press";
import { useKeymap } from "./keymap-store";

/** The label of an action's key; null where single letters are off, so that the key does nothing. */
export function useKeyLabels(): (action: Action) => string | null {
  const keymap = useKeymap();
  const isOn = useHasSingleLetters();
  return (action) => {
    const key = keymap[action];
    return isOn || key.length > 1 ? labelOfKey(key) : null;
  };
}

/** Words with the key that does the same: "Undo (Z)", or "Undo" where no key does. */
export function useWithKey(): (words: string, action: Action) => string {
  const labels = useKeyLabels();
  return (words, action) => {
    const key = labels(action);
    return key === null ? words : `${words} (${key})`;
  };
}
