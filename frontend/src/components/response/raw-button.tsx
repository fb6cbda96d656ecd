/** Shows the texts of a page as they were written, or formatted again. */
import type { ReactNode } from "react";

import { Icon } from "@/components/icons";

/** `children`: the key that does the same. */
export function RawButton(props: { isRaw: boolean; onToggle: () => void; children: ReactNode }) {
  return (
    <button type="button" className="btn ghost" aria-pressed={props.isRaw} onClick={props.onToggle}>
      <Icon name="raw" /> Raw text {props.children}
    </button>
  );
}
