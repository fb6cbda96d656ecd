/** The key of an action as this annotator has it, on a button. */
import type { Action } from "./keymap";
import { useKeyLabels } from "./labels";

export function Hint({ action }: { action: Action }) {
  const key = useKeyLabels()(action);
  return key !== null && <kbd>{key}</kbd>;
}
