/** The language of filters on one page, and the keys of the table. */
import { useQuery } from "@tanstack/react-query";

import { runKeysQuery } from "@/api/runs";
import { Dialog } from "@/components/dialog";
import { SingleLettersBox } from "@/components/form/single-letters-box";
import { Loaded } from "@/components/states";

const EXAMPLES: readonly (readonly [string, string])[] = [
  ["state:running,queued", "one of these states"],
  ["method:grpo config.kl.coef>=0.01", "both are true"],
  ["best.eval/reward>0.5 -tag:old", "and it does not have the tag"],
  ["(verdict:hacked OR verdict:collapsed) created>2026-11-01", "brackets and dates"],
  ['name~"kl sweep" experiment:none', "part of a name; without an experiment"],
  ["archived:any baseline", "archived or not, with a word of the name"],
];

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "Go to the filter"],
  ["J K", "Next or previous run; with Shift, choose it, too"],
  ["X", "Choose the run, or undo that; Shift and a click choose a range"],
  ["Enter", "Open the run"],
  ["E", "Edit its name and tags"],
  ["Escape", "Choose none"],
  ["?", "Open this help"],
];

export function FilterHelp({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const keys = useQuery(runKeysQuery(projectId));
  return (
    <Dialog title="Filters and keys" onClose={onClose} className="filter-help">
      <p className="small muted">
        Terms separated by spaces must all be true. A condition on a value that a run does not have
        is false; <code>key:none</code> finds runs without a value, <code>key:any</code> those with
        one. docs/filters.md in Podium's source folder has the whole language.
      </p>
      <dl>
        {EXAMPLES.map(([text, meaning]) => (
          <div key={text}>
            <dt>
              <code>{text}</code>
            </dt>
            <dd className="small muted">{meaning}</dd>
          </div>
        ))}
      </dl>
      <h3>Keys of a filter</h3>
      <Loaded query={keys}>
        {({ fields }) => (
          <dl>
            {fields.map(({ name, about, operators }) => (
              <div key={name}>
                <dt>
                  <code>{name.endsWith(".") ? `${name}NAME` : name}</code>{" "}
                  <span className="mono small faint">{operators.join(" ")}</span>
                </dt>
                <dd className="small muted">{about}</dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
      <h3>Keyboard</h3>
      <SingleLettersBox />
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd className="small muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
