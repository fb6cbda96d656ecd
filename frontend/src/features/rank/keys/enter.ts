/**
 * Whose key Enter is: a button's only if somebody went to it with Tab and has done nothing since.
 *
 * A click leaves the focus on the button too; but whoever clicks letters and presses Enter submits.
 */
import { useLayoutEffect, useRef, type RefObject } from "react";

const LEAVES_FOCUS = new Set(["Enter", " ", "Shift", "Control", "Alt", "Meta", "AltGraph"]);

export function useTabbed(): RefObject<boolean> {
  const hasTabbed = useRef(false);
  // Before the screen is drawn, as in the keys that ask for it: a Tab may come at once.
  useLayoutEffect(() => {
    const press = ({ key }: KeyboardEvent) => {
      // What happens in a dialog says nothing about the page under it.
      if (LEAVES_FOCUS.has(key) || document.querySelector("dialog[open]") !== null) return;
      hasTabbed.current = key === "Tab";
    };
    const point = () => {
      hasTabbed.current = false;
    };
    window.addEventListener("keydown", press, true);
    window.addEventListener("pointerdown", point, true);
    return () => {
      window.removeEventListener("keydown", press, true);
      window.removeEventListener("pointerdown", point, true);
    };
  }, []);
  return hasTabbed;
}

/** Whether Enter does something of its own where the focus is. */
export const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("button, a[href], summary") !== null;
