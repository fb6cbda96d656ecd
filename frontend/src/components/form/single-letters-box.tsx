/** Turns the shortcuts of single letters on and off, in this browser. */
import { useId } from "react";

import { turnSingleLetters, useHasSingleLetters } from "@/lib/shortcuts/single-letter";

export function SingleLettersBox() {
  const isOn = useHasSingleLetters();
  const id = useId();
  return (
    <div className="field">
      <label className="check">
        <input
          type="checkbox"
          aria-describedby={id}
          checked={isOn}
          onChange={({ target }) => turnSingleLetters(target.checked)}
        />
        Use single-letter shortcuts
      </label>
      <p id={id} className="hint">
        Letters, digits and signs without Ctrl, in this browser. Turn them off if you speak to your
        computer or press keys by accident: Enter, Space, Escape and the arrows keep working.
      </p>
    </div>
  );
}
