/** The table by keys: from row to row, choosing, opening, editing. */
import { useKeys } from "@/lib/shortcuts/use-keys";

import { moved, NOTHING, stretched, toggled, type Selection } from "./selection";

interface TableKeys {
  readonly ids: readonly string[];
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
  readonly onFilter: () => void;
  readonly onHelp: () => void;
  readonly onOpen: (runId: string) => void;
  /** Null: who looks may change nothing. */
  readonly onEdit: ((runId: string) => void) | null;
}

export function useTableKeys(table: TableKeys): void {
  const { ids, selection, onSelection } = table;
  const step = (by: number, isStretched: boolean) =>
    onSelection(isStretched ? stretched(selection, ids, by) : moved(selection, ids, by));
  const at = selection.at !== null && ids.includes(selection.at) ? selection.at : null;
  const ofRow: Readonly<Record<string, (runId: string) => void>> = {
    x: (runId) => onSelection(toggled(selection, runId)),
    ...(table.onEdit !== null && { e: table.onEdit }),
  };
  useKeys(({ key, shiftKey, ctrlKey, metaKey, altKey, target }) => {
    if (ctrlKey || metaKey || altKey) return false;
    const act: (() => void) | undefined = {
      j: () => step(1, shiftKey),
      k: () => step(-1, shiftKey),
      "/": table.onFilter,
      "?": table.onHelp,
      escape: () => onSelection(NOTHING),
    }[key.toLowerCase()];
    if (act !== undefined) {
      act();
      return true;
    }
    // On a link or a button Enter is theirs; on a check box, maybe of another row, nobody's.
    const isFree = !(target instanceof Element && target.closest("a, button, input") !== null);
    const onRow = key === "Enter" && isFree ? table.onOpen : ofRow[key];
    if (at === null || onRow === undefined) return false;
    onRow(at);
    return true;
  });
}
