/** What counts as somebody being there, and for how long. */

export const IDLE_AFTER_MS = 5 * 60_000;

/** What somebody does on purpose; a mere move of the pointer is none of it. */
export const ACTS = ["keydown", "pointerdown", "wheel"] as const;
export const INPUTS = [...ACTS, "pointermove"] as const;

/** Calls `touch` at each of these inputs until the function that is returned is called. */
export function onInput(
  touch: () => void,
  inputs: readonly (keyof WindowEventMap)[] = INPUTS,
): () => void {
  for (const input of inputs) window.addEventListener(input, touch, { passive: true });
  return () => {
    for (const input of inputs) window.removeEventListener(input, touch);
  };
}
