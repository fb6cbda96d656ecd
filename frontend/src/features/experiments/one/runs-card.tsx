/** The runs of an experiment, each with its verdict. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { experimentQuery, removeRun } from "@/api/experiments";
import type { Experiment, Run, RunVerdict } from "@/api/types";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { StatePill } from "@/components/run-state";
import { Table } from "@/components/table";
import { MethodName } from "@/components/text/names";
import { useVerdictsAsked } from "@/components/run-list/use-verdicts";
import { JudgedAlone, VerdictChange } from "@/components/verdict/judged-alone";
import { VerdictFailed, VerdictPill } from "@/components/verdict/verdict-pill";

const NoVerdict = ({ hasFailed }: { hasFailed: boolean }) =>
  hasFailed ? <VerdictFailed /> : <span className="faint">–</span>;

function RunRow(props: {
  run: Run;
  verdict: RunVerdict | undefined;
  /** Whether the verdict did not load. */
  hasFailed: boolean;
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
      <td className="run-verdict">
        {verdict === undefined ? (
          <NoVerdict hasFailed={props.hasFailed} />
        ) : (
          <>
            <VerdictPill verdict={verdict} /> <VerdictChange verdict={verdict} />
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

export function RunsCard(props: {
  experiment: Experiment;
  runs: readonly Run[];
  /** The button that adds runs. */
  add: ReactNode;
  mayChange: boolean;
}) {
  const { experiment, runs, mayChange } = props;
  const verdicts = useVerdictsAsked(runs);
  const client = useQueryClient();
  const removing = useMutation({
    mutationFn: (run: string) => removeRun(experiment.id, run),
    onSettled: () => client.invalidateQueries(experimentQuery(experiment.id)),
  });
  const columns = ["Name", "State", "Verdict", "Method", ["Seed", "num"]] as const;
  return (
    <section ref={keepFocus} className="card" aria-label="Runs">
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
            verdict={verdicts.found.get(run.id)}
            hasFailed={verdicts.failed.has(run.id)}
            remove={mayChange ? removing : null}
          />
        )}
      </Table>
      <JudgedAlone verdicts={runs.flatMap(({ id }) => verdicts.found.get(id) ?? [])} />
    </section>
  );
}
