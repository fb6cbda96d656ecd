/** The runs of an experiment, each with its verdict. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, type ReactNode } from "react";
import { Link } from "react-router";

import { experimentQuery, removeRun } from "@/api/experiments";
import type { Experiment, Run, RunVerdict } from "@/api/types";
import { PendingButton } from "@/components/pending-button";
import { Refused } from "@/components/refused";
import { StatePill } from "@/components/run-state";
import { Table } from "@/components/table";
import { MethodName } from "@/components/text/names";
import { useVerdicts } from "@/components/run-list/use-verdicts";
import { VerdictPill } from "@/components/verdict-pill";

function RunRow(props: {
  run: Run;
  verdict: RunVerdict | undefined;
  /** Null for whoever may not. */
  remove: { readonly isPending: boolean; readonly mutate: (run: string) => void } | null;
}) {
  const { run, verdict, remove } = props;
  const seed = run.config["seed"];
  return (
    <tr>
      <td>
        <Link className="item-name" to={`/projects/${run.project_id}/runs/${run.id}`}>
          {run.name}
        </Link>
      </td>
      <td>
        <StatePill state={run.state} title={run.state_sentence} />
      </td>
      <td className="verdict">
        {verdict === undefined ? (
          <span className="faint">–</span>
        ) : (
          <>
            <VerdictPill verdict={verdict} />
            <span className="small muted">{verdict.sentence}</span>
          </>
        )}
      </td>
      <td className="nowrap">
        <MethodName run={run} />
      </td>
      <td className="num">{typeof seed === "number" ? seed : "–"}</td>
      {remove !== null && (
        <td>
          <PendingButton
            className="btn ghost"
            aria-label={`Remove ${run.name}`}
            isPending={remove.isPending}
            onPress={() => remove.mutate(run.id)}
          >
            Remove
          </PendingButton>
        </td>
      )}
    </tr>
  );
}

/** The focus of a button that has gone with its row goes on to the next one, or to the last. */
function useFocusAfter(runs: readonly Run[]) {
  const card = useRef<HTMLElement>(null);
  const before = useRef(runs);
  const removed = useRef<string | null>(null);
  useEffect(() => {
    const place = before.current.findIndex(({ id }) => id === removed.current);
    before.current = runs;
    if (place < 0 || runs.some(({ id }) => id === removed.current)) return;
    removed.current = null;
    if (document.activeElement !== document.body) return;
    const rows = card.current?.querySelectorAll("tbody tr") ?? [];
    rows[Math.min(place, rows.length - 1)]?.querySelector("button")?.focus();
  }, [runs]);
  const noteRemoval = (run: string) => {
    removed.current = run;
  };
  return { card, noteRemoval };
}

export function RunsCard(props: {
  experiment: Experiment;
  runs: readonly Run[];
  /** The button that adds runs. */
  add: ReactNode;
  mayChange: boolean;
}) {
  const { experiment, runs, mayChange } = props;
  const verdicts = useVerdicts(runs);
  const client = useQueryClient();
  const { card, noteRemoval } = useFocusAfter(runs);
  const removing = useMutation({
    mutationFn: (run: string) => removeRun(experiment.id, run),
    onMutate: noteRemoval,
    onSettled: () => client.invalidateQueries(experimentQuery(experiment.id)),
  });
  const columns = ["Name", "State", "Verdict", "Method", ["Seed", "num"]] as const;
  return (
    <section ref={card} className="card" aria-label="Runs">
      <div className="row card-head">
        <h2>Runs</h2>
        <span className="grow" />
        {props.add}
      </div>
      <Refused asked={removing} />
      <Table columns={mayChange ? [...columns, "Action"] : columns} items={runs}>
        {(run) => (
          <RunRow
            key={run.id}
            run={run}
            verdict={verdicts.get(run.id)}
            remove={mayChange ? removing : null}
          />
        )}
      </Table>
    </section>
  );
}
