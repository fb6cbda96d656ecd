/** The groups, their seeds, and what the metric that decides says of each. */
import { Link } from "react-router";

import type { Run, RunVerdict, SeedGroup, SeedGroups } from "@/api/types";
import { keepFocus } from "@/components/focus/kept-focus";
import { Icon } from "@/components/icons";
import { Table, type Column } from "@/components/table";
import { JudgedAlone, VerdictChange } from "@/components/verdict/judged-alone";
import { VerdictPill } from "@/components/verdict/verdict-pill";
import { between, number, plural } from "@/lib/format";

import { estimateText, FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { colourOf, isDashed, letterOf } from "@/components/seed-groups/group-names";
import { AddRun } from "./add-run";
import { useView } from "./view";

interface Known {
  readonly runs: ReadonlyMap<string, Run>;
  readonly verdicts: ReadonlyMap<string, RunVerdict>;
}

function SeedLine(props: Known & { runId: string; group: SeedGroup; hasSteps: boolean }) {
  const { runId, group, runs, verdicts, hasSteps } = props;
  const { hidden, toggle, leaveOut } = useView();
  const run = runs.get(runId);
  const verdict = verdicts.get(runId);
  const value = group.values.find((one) => one.run === runId);
  const leftOut = group.left_out.find((one) => one.run === runId);
  if (run === undefined) return null;
  return (
    <li>
      <label>
        <input type="checkbox" checked={!hidden.has(runId)} onChange={() => toggle(runId)} />
        <span className="sr-only">Show the curve of {run.name}</span>
      </label>
      <Link to={`/projects/${run.project_id}/runs/${run.id}`}>{run.name}</Link>
      <span className="mono small">{value === undefined ? "–" : number(value.value)}</span>
      {hasSteps && value?.step != null && (
        <span className="small faint">step {number(value.step)}</span>
      )}
      {run.state !== "succeeded" && <span className="small faint">{run.state}</span>}
      {leftOut !== undefined && <span className="small faint">left out: {leftOut.why}</span>}
      {verdict !== undefined && (
        <>
          <VerdictPill verdict={verdict} />
          <VerdictChange verdict={verdict} />
        </>
      )}
      <button
        type="button"
        className="btn ghost icon small"
        title="Leave this run out of the comparison"
        aria-label={`Leave out ${run.name}`}
        onClick={() => leaveOut(runId)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

/** Fewer than three values are shown as they are. */
function Together({ group }: { group: SeedGroup }) {
  const { values, value, interval, is_iqm: isIqm } = group;
  if (values.length < FEWEST_FOR_MEAN)
    return (
      <>
        {values.length === 0 ? "–" : values.map((one) => number(one.value)).join(", ")}
        {values.length > 0 && (
          <span className="small faint"> {plural(values.length, "seed")}: no interval</span>
        )}
      </>
    );
  return (
    <>
      {number(value)}
      <span className="small faint">
        {" "}
        {interval == null ? "no spread" : between(interval)}, {estimateText(isIqm, values.length)}
      </span>
    </>
  );
}

/** Whether values are of different steps, so that each has to say which. */
const haveSteps = ({ groups }: SeedGroups): boolean =>
  new Set(groups.flatMap(({ values }) => values.map(({ step }) => step))).size > 1;

/** `unit`: of the metric that decides; empty where it has none or is not known yet. */
export function GroupTable(props: Known & { answer: SeedGroups; unit: string }) {
  const { answer, unit, ...known } = props;
  const { title, evaluated_on: on } = answer;
  const measure = on === null ? title || "Value" : `${title} on ${on}`;
  const by = unit === "" ? measure : `${measure}, ${unit}`;
  const columns: readonly Column[] = ["Group", ["Seeds", "num"], [by, "num"], "Runs"];
  const hasSteps = haveSteps(answer);
  const inGroups = answer.groups.flatMap(({ runs }) => runs);
  const groups = answer.groups.map((group, place) => ({ group, place }));
  return (
    <section className="card groups as-cards" ref={keepFocus}>
      <Table columns={columns} items={groups}>
        {({ group, place }) => (
          <tr key={place}>
            <td>
              <b className="group-name">
                <i
                  className={isDashed(place) ? "dashed" : ""}
                  style={{ borderColor: `var(${colourOf(place)})` }}
                  aria-hidden="true"
                />
                {letterOf(place)}
              </b>{" "}
              <span className="small muted">{group.name}</span>
            </td>
            <td className="num" data-label="Seeds">
              {group.runs.length - group.left_out.length}
            </td>
            <td className="num nowrap" data-label={by}>
              <span>
                <Together group={group} />
                {group.apart !== null && (
                  <span className="small faint">
                    {" "}
                    with a different <code>{group.apart}</code>
                  </span>
                )}
              </span>
            </td>
            <td>
              <ul className="seeds">
                {group.runs.map((runId) => (
                  <SeedLine
                    key={runId}
                    runId={runId}
                    group={group}
                    hasSteps={hasSteps}
                    {...known}
                  />
                ))}
              </ul>
            </td>
          </tr>
        )}
      </Table>
      <AddRun />
      <JudgedAlone verdicts={inGroups.flatMap((id) => known.verdicts.get(id) ?? [])} />
    </section>
  );
}
