/** The shortcuts of a page, opened by "?". */
import type { ReactNode } from "react";

import { Dialog } from "./dialog";
import { SingleLettersBox } from "./form/single-letters-box";

export type KeyHelp = readonly (readonly [string, string])[];

export function ShortcutsDialog(props: { keys: KeyHelp; onClose: () => void; footer?: ReactNode }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={props.onClose} footer={props.footer}>
      <SingleLettersBox />
      <dl className="keys">
        {props.keys.map(([keys, meaning]) => (
          <div key={keys} className="pair">
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
