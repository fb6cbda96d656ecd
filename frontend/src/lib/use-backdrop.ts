/**
 * A press beside a modal dialog closes it.
 *
 * The click of a mouse that is pressed in a field and let go beside the dialog, as by who selects
 * text, is dispatched at the dialog, too: so both ends of the press must lie beside it.
 */
import { useRef, type MouseEvent, type PointerEvent, type RefObject } from "react";

/** The handlers of the dialog element: the browser tells it of presses on its backdrop. */
export function useBackdrop(dialog: RefObject<HTMLDialogElement | null>, onClose: () => void) {
  const isBeside = (event: MouseEvent) => event.target === dialog.current;
  const hasBegun = useRef(false);
  const hasEnded = useRef(false);
  return {
    onPointerDown: (event: PointerEvent) => {
      hasBegun.current = isBeside(event);
    },
    onPointerUp: (event: PointerEvent) => {
      hasEnded.current = isBeside(event);
    },
    onClick: (event: MouseEvent) => {
      if (isBeside(event) && hasBegun.current && hasEnded.current) onClose();
    },
  };
}
