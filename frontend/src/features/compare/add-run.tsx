/** A field that adds a run of the project to the comparison. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { runsQuery } from "@/api/runs";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { MethodName } from "@/components/text/names";
import { useProjectId } from "@/lib/address/use-project";
import { number } from "@/lib/format";

import { MOST_RUNS, useView } from "./view";

const MOST_LISTED = 8;

/** The newest runs are listed once the field has the focus. */
export function AddRun() {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const { runIds, runCount } = useView();
  if (runIds.length >= MOST_RUNS)
    return (
      <p className="small muted remark">
        {MOST_RUNS} runs are compared, and no more can be. {howToAdd(runCount)}
      </p>
    );
  return (
    <div className="add-run">
      <input
        className="input"
        type="search"
        aria-label="Add a run"
        placeholder="Add a run: search by name"
        value={text}
        onFocus={() => setOpen(true)}
        onChange={({ target }) => {
          setText(target.value);
          setOpen(true);
        }}
        onKeyDown={({ key }) => {
          if (key === "Escape") setOpen(false);
        }}
      />
      {isOpen && <Found text={text.trim()} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Of more runs than can be compared, the next takes the place of one that is left out. */
const howToAdd = (runCount: number) =>
  runCount > MOST_RUNS
    ? `The address names ${number(runCount)}: ` +
      `leave ${number(runCount - MOST_RUNS + 1)} out to add another.`
    : "Leave one out to add another.";

function Found({ text, onClose }: { text: string; onClose: () => void }) {
  const { runIds, add } = useView();
  // All that are compared may be among those that match.
  const limit = MOST_LISTED + runIds.length;
  const runs = useQuery({
    ...runsQuery({ project_id: useProjectId(), q: text, limit }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={runs} lines={3}>
      {({ items }) => {
        const others = items.filter(({ id }) => !runIds.includes(id)).slice(0, MOST_LISTED);
        return (
          <>
            {others.length === 0 && (
              <p className="small muted">
                {text === ""
                  ? "All runs of the project that are not archived are compared."
                  : "No other run has such a name."}
              </p>
            )}
            <ul>
              {others.map((run) => (
                <li key={run.id}>
                  <button type="button" className="btn small" onClick={() => add(run.id)}>
                    Add {run.name}
                  </button>{" "}
                  <span className="small muted">
                    <MethodName run={run} />, {run.state}, <Ago at={run.created_at} />
                  </span>
                </li>
              ))}
            </ul>
            <button type="button" className="btn ghost small" onClick={onClose}>
              Close the list
            </button>
          </>
        );
      }}
    </Loaded>
  );
}
