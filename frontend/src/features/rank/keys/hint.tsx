/** The key of an action as this annotator has it, for a button or a sentence. */
import { useHasSingleLetters } from "@/lib/keys/single-letter";

import type { Action } from "../ranking/keymap";
import { labelOfKey } from "../ranking/press";
import { useKeymap } from "./keymap-store";

export function Hint({ action }: { action: Action }) {
  const key = useKeymap()[action];
  const isOn = useHasSingleLetters() || key.length > 1;
  return isOn && <kbd>{labelOfKey(key)}</kbd>;
}
