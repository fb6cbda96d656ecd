/** What a run has measured on each of its sets: a table, and parts of the sets as bars. */
import "./sets.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { runSetsQuery } from "@/api/measured/results";
import type { MeasuredSet, Run, RunSets } from "@/api/types";
import { BarLegend, Bars } from "@/charts/bars/bars";
import { pictureOfBars } from "@/charts/bars/picture";
import { FigureMenu } from "@/components/chart/figure-menu";
import { EVALUATIONS_REFETCH_MS, isLive } from "@/components/run-list/batches";
import { setMark } from "@/components/seed-groups/set-mark";
import { NoAnswer } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { partsOfRun } from "@/lib/files/file-name";
import { intervalText, number, plural } from "@/lib/format";

import { Responses } from "./responses";
import { barsOf, brokenDown, csvRows, isPlain, keysOf, measureOf, shownMetrics } from "./sets-rows";

const HEIGHT = 240;

export function useRunSets(run: Run) {
  return useQuery({
    ...runSetsQuery(run.id),
    refetchInterval: isLive(run) && EVALUATIONS_REFETCH_MS,
  });
}

const NONE: ReadonlySet<string> = new Set();

/** Metrics that need no line of their own, because the card shows them. */
export function useShownMetrics(run: Run): ReadonlySet<string> {
  const sets = useRunSets(run).data?.sets;
  return run.method === "evaluate" && sets !== undefined ? shownMetrics(sets) : NONE;
}

export function SetsCard({ run }: { run: Run }) {
  const query = useRunSets(run);
  if (query.error !== null && query.data === undefined) return <NoAnswer query={query} />;
  // Most runs measure no sets: nothing is said while nobody knows.
  if (query.data === undefined || query.data.sets.length === 0 || isPlain(run, query.data))
    return null;
  const sets = query.data;
  return (
    <section className="card run-sets" aria-label="Sets">
      <div className="row card-head">
        <h2>{run.method === "evaluate" ? "Results by set" : "Newest evaluation by set"}</h2>
      </div>
      <Grid found={sets} />
      <Sampling sets={sets.sets} />
      <Responses run={run} sets={sets.sets} />
      {keysOf(sets).map((key) => (
        <Breakdown key={key} run={run} found={sets} by={key} />
      ))}
    </section>
  );
}

const sizeOf = (set: MeasuredSet): string =>
  set.n_prompts === null ? "" : `${plural(set.n_prompts, "prompt")}, `;

function Grid({ found }: { found: RunSets }) {
  const columns: readonly Column[] = [
    "Measure",
    ...found.sets.map((set) => [set.label + setMark([set]), "num"] as const),
  ];
  return (
    <Table columns={columns} items={found.measures}>
      {({ measure, title, unit }) => (
        <tr key={measure}>
          <th scope="row">
            {title}
            {unit !== "" && <div className="small muted">{unit}</div>}
          </th>
          {found.sets.map((set) => {
            const one = measureOf(set.measures, measure);
            return one === undefined ? (
              <td key={set.label} className="num faint">
                n/a
              </td>
            ) : (
              <td key={set.label} className="num nowrap" title={one.metric}>
                {number(one.value)}
                <div className="faint small">{intervalText(one.interval)}</div>
              </td>
            );
          })}
        </tr>
      )}
    </Table>
  );
}

function Sampling({ sets }: { sets: readonly MeasuredSet[] }) {
  return (
    <ul className="small muted sampling">
      {sets.map((set) => (
        <li key={set.label}>
          <b>{set.label}</b> {sizeOf(set)}
          {set.sampling}
          {set.passes_by_learned_score && measureOf(set.measures, "pass@1") !== undefined && (
            <>
              ; its pass@k counts responses to which reward models give at least{" "}
              <code>pass_reward</code>, not correct ones
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function Breakdown({ run, found, by }: { run: Run; found: RunSets; by: string }) {
  const measures = brokenDown(found, by);
  const [wanted, setWanted] = useState("pass@1");
  const measure = measures.includes(wanted) ? wanted : measures[0];
  if (measure === undefined) return null;
  const { levels, series } = barsOf(found, by, measure);
  const titleOf = (one: string) => found.measures.find((it) => it.measure === one)?.title ?? one;
  return (
    <section className="by-part" aria-label={`By ${by}`}>
      <div className="row">
        <h3>By {by}</h3>
        <span className="grow" />
        <select
          className="input"
          aria-label={`Measure by ${by}`}
          value={measure}
          onChange={(event) => setWanted(event.target.value)}
        >
          {measures.map((one) => (
            <option key={one} value={one}>
              {titleOf(one)}
            </option>
          ))}
        </select>
        <FigureMenu
          title={`By ${by}`}
          of={[...partsOfRun(run), measure, `by ${by}`]}
          figure={() => ({
            ...pictureOfBars(levels, series, by),
            ...{ title: `${titleOf(measure)} by ${by}`, yLabel: titleOf(measure) },
            run: `${run.name}; 95 % intervals by prompt`,
          })}
          rows={() => csvRows(levels, series, by)}
          rowsText="each set and value"
        />
      </div>
      <Bars
        levels={levels}
        series={series}
        levelName={by}
        label={`${titleOf(measure)} by ${by}, with 95 % intervals by prompt`}
        height={HEIGHT}
      />
      {series.length > 1 && <BarLegend series={series} />}
    </section>
  );
}
