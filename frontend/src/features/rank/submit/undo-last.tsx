/** Undo where no comparison is on screen that has its own: a button and the key. */
import { Icon } from "@/components/icons";
import { useKeys } from "@/lib/shortcuts/use-keys";

import { useKeymap } from "../keys/keymap-store";
import { commandOf } from "../keys/keys";
import { useWithKey } from "../keys/labels";
import { pressOf } from "../keys/press";
import { lastSaid } from "../keys/twice";
import { start } from "../ranking/ranking";

/** `onUndo` is null where there is no judgment to undo. */
export function UndoLast({ onUndo }: { onUndo: (() => void) | null }) {
  const keymap = useKeymap();
  const withKey = useWithKey();
  const undo = () => {
    lastSaid.forget();
    onUndo?.();
  };
  useKeys((event) => {
    if (onUndo === null || event.repeat) return false;
    if (commandOf(pressOf(event), start(2), [], keymap)?.kind !== "undo") return false;
    undo();
    return true;
  });
  if (onUndo === null) return null;
  return (
    <button type="button" className="btn undo-last" title={withKey("Undo", "undo")} onClick={undo}>
      <Icon name="undo" />
      Undo the last judgment
    </button>
  );
}
