/** The tables of results of these groups, one at a time, and what to take all of them away with. */
import { useQuery } from "@tanstack/react-query";

import { resultsOfRunsQuery } from "@/api/measured/results";
import type { Run, SeedGroups } from "@/api/types";
import { familiesOf, type Family } from "@/components/results/families";
import { Legend } from "@/components/results/legend";
import { OneTable, type PlaceOf } from "@/components/results/one-table";
import { TakeAway } from "@/components/results/take-away";
import { NoAnswer } from "@/components/states";

import { useView } from "./view";
import { partsOfComparison } from "./whose";

interface ResultsProps {
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
  readonly refetchMs: number | false;
}

export function Results({ answer, runs, refetchMs }: ResultsProps) {
  const { runIds, table, evaluatedOn, set } = useView();
  const query = useQuery({ ...resultsOfRunsQuery(runIds), refetchInterval: refetchMs });
  if (query.error !== null && query.data === undefined) return <NoAnswer query={query} />;
  const found = query.data;
  const families = familiesOf(found?.tables ?? []);
  const shown = families.find(({ name }) => name === table) ?? families[0];
  // Nothing is said while nobody knows, nor of runs that measured nothing.
  if (found === undefined || shown === undefined) return null;
  const placeOf: PlaceOf = (run) => {
    const place = answer.groups.findIndex((group) => group.runs.includes(run));
    return place < 0 ? null : place;
  };
  return (
    <section className="card results" aria-label="Results">
      <div className="row card-head">
        <h2>Results</h2>
        <span className="grow" />
        <TableChoice families={families} shown={shown} onChoose={(name) => set({ table: name })} />
        <TakeAway whose={runIds} of={[...partsOfComparison(answer.groups, runs), "results"]} />
      </div>
      <OneTable
        family={shown}
        set={evaluatedOn}
        onChoose={(chosen) => set({ set: chosen })}
        placeOf={placeOf}
      />
      <Legend results={found} />
    </section>
  );
}

function TableChoice(props: {
  families: readonly Family[];
  shown: Family;
  onChoose: (name: string) => void;
}) {
  if (props.families.length < 2) return null;
  return (
    <select
      className="input"
      aria-label="Table"
      value={props.shown.name}
      onChange={(event) => props.onChoose(event.target.value)}
    >
      {props.families.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
