/** Runs of the project that can join an experiment: found by name, chosen, added at once. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { addRuns, experimentQuery } from "@/api/experiments";
import { runsQuery } from "@/api/runs";
import type { Experiment, Run } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { useSending } from "@/components/form/use-sending";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { MethodName } from "@/components/text/names";
import { plural } from "@/lib/format";

const MOST_LISTED = 50;
const MOST_ADDED = 100;

function Choice(props: { run: Run; isChosen: boolean; onChoose: () => void }) {
  const { run, isChosen, onChoose } = props;
  return (
    <li>
      <label>
        <input type="checkbox" checked={isChosen} onChange={onChoose} />
        <span className="grow">
          {run.name}{" "}
          <span className="small muted">
            <MethodName run={run} />, <Ago at={run.created_at} />
            {run.experiment_id !== null && ", leaves its experiment"}
          </span>
        </span>
      </label>
    </li>
  );
}

/** Why no run can be chosen. */
function whyNone(text: string, hasMore: boolean): string {
  if (hasMore)
    return `The newest ${MOST_LISTED} are in this experiment. Search by name for others.`;
  return text.trim() === ""
    ? "All runs of the project that are not archived are in this experiment."
    : "No other run has such a name.";
}

export function AddRunsDialog(props: { experiment: Experiment; onClose: () => void }) {
  const { experiment, onClose } = props;
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const runs = useQuery({
    ...runsQuery({ project_id: experiment.project_id, q: text.trim(), limit: MOST_LISTED }),
    placeholderData: keepPreviousData,
  });
  const adding = useSending(
    `No run was added to the experiment “${experiment.name}”.`,
    {
      mutationFn: (runIds: readonly string[]) => addRuns(experiment.id, runIds),
      onSuccess: async (answer) => {
        await showAnswer(client, experimentQuery(experiment.id), answer);
        await client.invalidateQueries({ queryKey: ["experiments", experiment.project_id] });
      },
    },
    onClose,
  );
  const choose = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <Dialog
      title="Add runs"
      onClose={onClose}
      footer={
        <PendingButton
          className="btn primary"
          isPending={adding.isPending || chosen.length === 0 || chosen.length > MOST_ADDED}
          onPress={() => adding.mutate(chosen)}
        >
          {chosen.length > MOST_ADDED
            ? `At most ${MOST_ADDED} at once`
            : chosen.length === 0
              ? "Choose runs to add"
              : `Add ${plural(chosen.length, "run")}`}
        </PendingButton>
      }
    >
      <input
        className="input"
        type="search"
        aria-label="Search runs by name"
        placeholder="Search by name"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Refused asked={adding} />
      <Loaded
        query={runs}
        isNone={({ items }) => items.every((run) => run.experiment_id === experiment.id)}
      >
        {({ items, next_cursor: next }) => {
          const others = items.filter((run) => run.experiment_id !== experiment.id);
          return (
            <>
              <ul className="run-choices">
                {others.map((run) => (
                  <Choice
                    key={run.id}
                    run={run}
                    isChosen={chosen.includes(run.id)}
                    onChoose={() => choose(run.id)}
                  />
                ))}
              </ul>
              {others.length === 0 && <p className="muted">{whyNone(text, next != null)}</p>}
              {next != null && others.length > 0 && (
                <p className="small muted">
                  The newest {MOST_LISTED} are listed. Search by name for others.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
