/** The tables of the paper for the runs of an experiment, and what to take them away with. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { resultsQuery } from "@/api/measured/results";
import { seedGroupsQuery } from "@/api/seed-groups";
import type { Experiment, Results } from "@/api/types";
import { familiesOf } from "@/components/results/families";
import { Legend } from "@/components/results/legend";
import { OneTable, type PlaceOf } from "@/components/results/one-table";
import { TakeAway } from "@/components/results/take-away";
import { Loaded } from "@/components/states";

import { useChosenSet } from "./chosen-set";

function Tables({ results, placeOf }: { results: Results; placeOf: PlaceOf }) {
  const [set, choose] = useChosenSet();
  return (
    <>
      {familiesOf(results.tables).map((family) => (
        <OneTable key={family.name} family={family} set={set} onChoose={choose} placeOf={placeOf} />
      ))}
      <Legend results={results} />
    </>
  );
}

/** The letters that the answer above gives to groups: by the same request, whichever set decides. */
function usePlaces(runIds: readonly string[]): PlaceOf {
  const [set] = useChosenSet();
  const answer = useQuery({
    ...seedGroupsQuery(runIds, null, set),
    placeholderData: keepPreviousData,
  });
  const groups = answer.data?.groups ?? [];
  return (runId) => {
    const place = groups.findIndex((group) => group.runs.includes(runId));
    return groups.length > 1 && place >= 0 ? place : null;
  };
}

export function ResultsCard(props: { experiment: Experiment; refetchMs: number | false }) {
  const { experiment } = props;
  const query = useQuery({ ...resultsQuery(experiment.id), refetchInterval: props.refetchMs });
  const placeOf = usePlaces(experiment.run_ids);
  const hasTables = query.data !== undefined && query.data.tables.length > 0;
  return (
    <section className="card" aria-label="Results">
      <div className="row card-head">
        <h2>Results</h2>
        <span className="grow" />
        {hasTables && <TakeAway whose={experiment.id} of={[experiment.name]} />}
      </div>
      <Loaded query={query} lines={4}>
        {(found) =>
          found.tables.length > 0 ? (
            <Tables results={found} placeOf={placeOf} />
          ) : (
            <p className="muted remark">
              These runs have measured nothing on held-out data yet, and no evaluation from outside
              is attached. Evaluate the models that they produced with <code>evaluate</code> runs.
            </p>
          )
        }
      </Loaded>
    </section>
  );
}
