/** The shortcuts of a page, opened by "?". */
import { Dialog } from "./dialog";

export type KeyHelp = readonly (readonly [string, string])[];

export function KeysDialog(props: { keys: KeyHelp; onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={props.onClose}>
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
