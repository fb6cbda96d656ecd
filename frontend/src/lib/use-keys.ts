/** Keys of a page: not while somebody types in a field, composes a character or has a dialog open. */
import { useLayoutEffect, useRef } from "react";

/** What takes no key of a page for itself but the space bar: a click leaves the focus there. */
const WITHOUT_KEYS = new Set(["checkbox", "button", "submit", "reset", "file"]);

interface Focused {
  readonly tagName: string;
  readonly type?: string;
  readonly isContentEditable: boolean;
}

/** Whether letters or arrows mean something to what has the focus. */
export function takesKeys({ tagName, type = "text", isContentEditable }: Focused): boolean {
  if (tagName === "INPUT") return !WITHOUT_KEYS.has(type);
  return isContentEditable || tagName === "TEXTAREA" || tagName === "SELECT";
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && takesKeys(target);

/** `onKey` returns true if the key was its own. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(onKey);
  // Before the screen is drawn: a key means what is seen when it is pressed.
  useLayoutEffect(() => {
    latest.current = onKey;
  });
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.isComposing || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (latest.current(event)) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
