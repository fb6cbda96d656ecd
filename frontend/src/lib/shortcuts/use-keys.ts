/**
 * Keys of a page: not while somebody types in a field, composes a character or has a dialog open, and
 * no single letters for who has turned them off.
 */
import { useLayoutEffect, useRef } from "react";

import { hasSingleLetters, isSingleLetter } from "./single-letter";
import { takesKeys } from "./takes-keys";

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
      if (isSingleLetter(event) && !hasSingleLetters()) return;
      if (latest.current(event)) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
