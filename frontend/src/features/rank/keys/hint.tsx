/** The key of an action as this annotator has it, for a button or a sentence. */
import type { Action } from "../ranking/keymap";
import { labelOfKey } from "../ranking/press";
import { useKeymap } from "./keymap-store";

export function Hint({ action }: { action: Action }) {
  return <kbd>{labelOfKey(useKeymap()[action])}</kbd>;
}
