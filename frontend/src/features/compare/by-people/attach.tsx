/** The win rate becomes a result of the run that trained the model. */
import { useMutation, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { Link } from "react-router";

import { attachMetrics, runQuery } from "@/api/runs";
import type { OutsideMetrics, Run, Versus } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { useMayChange } from "@/components/use-may";
import { Loaded } from "@/components/states";
import { number } from "@/lib/format";

import { resultsOf, rewardAgainstKl, WIN_RATE } from "./attached";

/** All that shows or lists metrics, besides the page of the run. */
const SHOWING = ["runs", "run-keys", "verdicts", "metrics", "seed-groups", "results"];

const shownAnew = (client: QueryClient, runId: string) =>
  Promise.all(
    [["run", runId], ...SHOWING.map((kind) => [kind])].map((queryKey) =>
      client.invalidateQueries({ queryKey }),
    ),
  );

/** Nothing where the win rate is of no run's model, or has no interval. */
export function Attach({ found, ours, theirs }: { found: Versus; ours: Run; theirs: Run }) {
  const mayChange = useMayChange(ours.project_id);
  if (!mayChange || found.trained_by === null) return null;
  const { run, step } = found.trained_by;
  const results = resultsOf(found, step, theirs.name);
  return results === null ? null : <ToRun runId={run} step={step} results={results} />;
}

function ToRun(props: { runId: string; step: number; results: OutsideMetrics }) {
  const { runId, step, results } = props;
  const client = useQueryClient();
  const trained = useQuery(runQuery(runId));
  const asked = useMutation({
    mutationFn: (said: OutsideMetrics) => attachMetrics(runId, said),
    onSuccess: () => shownAnew(client, runId),
  });
  return (
    <Loaded query={trained} lines={1}>
      {(run) => (
        <>
          <div className="row">
            <PendingButton isPending={asked.isPending} onPress={() => asked.mutate(results)}>
              Attach to {run.name}, step {number(step)}
            </PendingButton>
            {asked.isSuccess && <Attached run={run} results={asked.variables} />}
            <Refused asked={asked} />
          </div>
          <p className="small muted">
            This stores the win rate as <code>{WIN_RATE}</code> of {run.name} and replaces an
            earlier one at this step; the verdict of {run.name} then names it. Attach only win rates
            against the same other run, for example samples of the SFT model; otherwise the runs are
            not comparable.
          </p>
        </>
      )}
    </Loaded>
  );
}

/** What was attached, and where it is shown. */
function Attached({ run, results }: { run: Run; results: OutsideMetrics }) {
  const [point] = results.points;
  const againstKl = rewardAgainstKl(run);
  return (
    <>
      <span className="small" role="status">
        Win rate {number(point?.values[WIN_RATE])} is attached to step {number(point?.step)}.
      </span>
      <Link to={`/projects/${run.project_id}/runs/${run.id}`}>Open {run.name}</Link>
      {againstKl !== null && <Link to={againstKl}>Reward vs KL</Link>}
    </>
  );
}
