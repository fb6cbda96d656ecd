/** How often people prefer one run's responses to the other's, where two generate runs are compared. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";

import type { Run, Versus } from "@/api/types";
import { putUpPairs, versusQuery } from "@/api/measured/versus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { useMayChange } from "@/components/use-may";
import { Loaded } from "@/components/states";
import { between, number, plural } from "@/lib/format";

import { Attach } from "./attach";
import { atEqualLength, canBeJudged, leftToPutUp, saidOf } from "./words";

const PAIRS_AT_ONCE = 100;

export function ByPeople({ runs }: { runs: readonly Run[] }) {
  const [ours, theirs] = runs;
  if (ours === undefined || theirs === undefined || !canBeJudged(runs)) return null;
  // What was done for one pair of runs is not said of another.
  return <Judged key={`${ours.id} ${theirs.id}`} ours={ours} theirs={theirs} />;
}

function Judged({ ours, theirs }: { ours: Run; theirs: Run }) {
  const query = useQuery(versusQuery(ours.id, theirs.id));
  return (
    <section className="card padded" aria-label="By people">
      <h2>By people</h2>
      <Loaded query={query} lines={3}>
        {(found) => (
          <>
            <WinRate found={found} ours={ours} theirs={theirs} />
            <PutUp found={found} ours={ours} theirs={theirs} />
            <Attach found={found} ours={ours} theirs={theirs} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function WinRate({ found, ours, theirs }: { found: Versus; ours: Run; theirs: Run }) {
  const { win_rate: rate, interval, not_alike: notAlike } = found;
  return (
    <>
      <p>{saidOf(found, ours.name, theirs.name)}</p>
      {rate !== null && (
        <p className="small muted">
          Win rate {number(rate)}{" "}
          {interval === null ? "(one prompt: no interval)" : `${between(interval)}, 95 % by prompt`}
          : {plural(found.won, "judgment")} won, {number(found.tied)} tied, {number(found.lost)}{" "}
          lost, on {plural(found.judged, "pair")}
          {found.left_out > 0 &&
            `; ${plural(found.left_out, "judgment")} ranked at most one of the two`}
          .
        </p>
      )}
      {rate !== null && <p className="small muted">{atEqualLength(found)}</p>}
      {rate !== null && (
        <p className="small">
          <Link to={`/projects/${ours.project_id}/compare?runs=${theirs.id},${ours.id}`}>
            Show the win rate of {theirs.name}
          </Link>
        </p>
      )}
      <p className="small muted">
        {plural(found.pairs, "pair")} of responses to the same prompts: {found.put_up} put up for
        ranking{found.identical > 0 && `, ${found.identical} left out because the texts are equal`}.
      </p>
      {notAlike.length > 0 && (
        <p className="small fewer">
          The runs were sampled with different settings ({notAlike.join(", ")}), which affect the
          win rate, too.
        </p>
      )}
    </>
  );
}

function PutUp({ found, ours, theirs }: { found: Versus; ours: Run; theirs: Run }) {
  const client = useQueryClient();
  const mayChange = useMayChange(ours.project_id);
  const asked = useMutation({
    mutationFn: (pairs: number) => putUpPairs(ours.id, theirs.id, pairs),
    onSuccess: () => client.invalidateQueries({ queryKey: ["versus"] }),
  });
  const wanted = Math.min(PAIRS_AT_ONCE, leftToPutUp(found));
  if (!mayChange) return null;
  return (
    <div className="row">
      {wanted > 0 && (
        <PendingButton isPending={asked.isPending} onPress={() => asked.mutate(wanted)}>
          Put {plural(wanted, "pair")} up for ranking
        </PendingButton>
      )}
      {found.put_up > 0 && <Link to={`/projects/${ours.project_id}/rank`}>Rank</Link>}
      {asked.data !== undefined && (
        <span className="small" role="status">
          {plural(asked.data.created, "pair")} {asked.data.created === 1 ? "was" : "were"} put up
          for ranking.
        </span>
      )}
      <Refused asked={asked} />
    </div>
  );
}
