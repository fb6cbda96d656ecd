/** The groups, their seeds, and what the metric that decides says of each. */
import { Link } from "react-router";

import type { Run, SeedGroup, SeedGroups, Verdict } from "@/api/types";
import { Table, type Column } from "@/components/table";
import { VerdictPill } from "@/components/verdict-pill";
import { between, number, plural } from "@/lib/format";

import { colourOf, isDashed, letterOf } from "@/components/seed-groups/group-names";
import { useView } from "./view";

interface Known {
  readonly runs: ReadonlyMap<string, Run>;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

function SeedLine(props: Known & { runId: string; group: SeedGroup }) {
  const { runId, group, runs, verdicts } = props;
  const { hidden, toggle } = useView();
  const run = runs.get(runId);
  const verdict = verdicts.get(runId);
  const value = group.values.find((one) => one.run === runId);
  if (run === undefined) return null;
  return (
    <li>
      <label>
        <input type="checkbox" checked={!hidden.has(runId)} onChange={() => toggle(runId)} />
        <span className="sr-only">Show the curve of {run.name}</span>
      </label>
      <Link to={`/projects/${run.project_id}/runs/${run.id}`}>{run.name}</Link>
      <span className="mono small">{value === undefined ? "–" : number(value.value)}</span>
      {verdict !== undefined && <VerdictPill verdict={verdict} />}
    </li>
  );
}

export function GroupTable({ answer, ...known }: Known & { answer: SeedGroups }) {
  const { title, evaluated_on: on } = answer;
  const by = on === null ? title || "Value" : `${title} on ${on}`;
  const columns: readonly Column[] = ["Group", ["Seeds", "num"], [by, "num"], "Runs"];
  const groups = answer.groups.map((group, place) => ({ group, place }));
  return (
    <section className="card groups as-cards">
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
              {group.runs.length}
            </td>
            <td className="num nowrap" data-label={by}>
              <span>
                {number(group.value)}
                {group.interval != null && (
                  <span className="small faint"> {between(group.interval)}</span>
                )}
                {group.apart !== null && (
                  <span className="small faint">
                    {" "}
                    with a different <code>{group.apart}</code>
                  </span>
                )}
                {group.interval == null && group.values.length > 0 && (
                  <span className="small faint">
                    {" "}
                    {plural(group.values.length, "seed")}: no interval
                  </span>
                )}
              </span>
            </td>
            <td>
              <ul className="seeds">
                {group.runs.map((runId) => (
                  <SeedLine key={runId} runId={runId} group={group} {...known} />
                ))}
              </ul>
            </td>
          </tr>
        )}
      </Table>
    </section>
  );
}
