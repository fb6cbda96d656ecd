/** The runs of a project: state, method, the last number that matters, progress. */
import "./runs.css";

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";

import { methodsQuery, runPages } from "@/api/runs";
import type { Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { More } from "@/components/more";
import { StatePill } from "@/components/run-state";
import { LastValue, Trend, useTrends } from "@/components/run-trends";
import { Empty, Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { MethodName } from "@/components/text/names";
import { useLiveRuns } from "@/components/use-live-runs";
import { duration } from "@/lib/format";
import { useProjectId } from "@/lib/use-project";

const STATES = [
  "queued",
  "running",
  "stopping",
  "paused",
  "succeeded",
  "failed",
  "crashed",
  "cancelled",
];
const COLUMNS: readonly Column[] = [
  "Name",
  "State",
  "Method",
  ["Latest value", "num"],
  "Trend",
  "Progress",
  "Created",
];

function Filters() {
  const methods = useQuery(methodsQuery).data?.methods ?? [];
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const chooser = (
    name: "state" | "method",
    all: string,
    options: readonly (readonly [string, string])[],
  ) => (
    <select
      className="input"
      aria-label={name === "state" ? "State" : "Method"}
      value={search.get(name) ?? ""}
      onChange={(event) => set(name, event.target.value)}
    >
      <option value="">{all}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  return (
    <div className="row filters">
      <input
        className="input"
        type="search"
        placeholder="Search by name"
        aria-label="Search by name"
        value={search.get("q") ?? ""}
        onChange={(event) => set("q", event.target.value)}
      />
      {chooser(
        "state",
        "All states",
        STATES.map((state) => [state, state]),
      )}
      {chooser(
        "method",
        "All methods",
        methods.map(({ method, title }) => [method, title]),
      )}
    </div>
  );
}

function Row({ run, trend }: { run: Run; trend: readonly (number | null)[] | undefined }) {
  const { step, steps, eta_s: eta } = run.progress;
  const share = run.state === "succeeded" ? 100 : steps > 0 ? (100 * step) / steps : 0;
  return (
    <tr>
      <td>
        <Link className="item-name" to={`/projects/${run.project_id}/runs/${run.id}`}>
          {run.name}
        </Link>
        {run.tags.map((tag) => (
          <span className="tag" key={tag}>
            {tag}
          </span>
        ))}
      </td>
      <td>
        <StatePill state={run.state} title={run.state_sentence} />
      </td>
      <td className="nowrap">
        <MethodName run={run} />
      </td>
      <td className="num">
        <LastValue run={run} />
      </td>
      <td>
        <Trend run={run} values={trend} />
      </td>
      <td className="progress-cell">
        <div className="bar">
          <i style={{ width: `${Math.min(100, share)}%` }} />
        </div>
        <span className="small faint mono nowrap">
          {steps > 0 ? `${step} / ${steps}` : "–"}
          {run.state === "running" && eta !== null ? `, ${duration(eta)} left` : ""}
        </span>
      </td>
      <td className="small muted">
        <Ago at={run.created_at} />
      </td>
    </tr>
  );
}

function NewRunLink({ projectId }: { projectId: string }) {
  return (
    <Link className="btn primary" to={`/projects/${projectId}/runs/new`}>
      <Icon name="plus" /> New run
    </Link>
  );
}

export function RunsPage() {
  const projectId = useProjectId();
  const [search] = useSearchParams();
  const filter = {
    project_id: projectId,
    state: search.get("state"),
    method: search.get("method"),
    q: search.get("q"),
  };
  const runs = useInfiniteQuery({ ...runPages(filter), placeholderData: keepPreviousData });
  const fresh = new Map(useLiveRuns(projectId).data?.items.map((run) => [run.id, run]));
  const listed = runs.data?.pages.flatMap((page) => page.items) ?? [];
  const items = listed.map((run) => fresh.get(run.id) ?? run);
  const trends = useTrends(items);
  const isFiltered = Boolean(filter.state ?? filter.method ?? filter.q);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Runs</h1>
          <p>A run is one execution of a method with a config and data.</p>
        </div>
        <span className="grow" />
        <NewRunLink projectId={projectId} />
      </div>
      <Filters />
      <section className="card">
        <Loaded query={runs} lines={8}>
          {() => (
            <Table
              columns={COLUMNS}
              items={items}
              empty={
                <Empty
                  icon="runs"
                  title={isFiltered ? "No run matches these filters" : "No runs yet"}
                  actions={isFiltered ? undefined : <NewRunLink projectId={projectId} />}
                >
                  {isFiltered
                    ? "Remove a filter to see more runs."
                    : "Sample responses to rank, fine-tune on demonstrations, train a reward model, then the policy."}
                </Empty>
              }
            >
              {(run) => <Row key={run.id} run={run} trend={trends.get(run.id)} />}
            </Table>
          )}
        </Loaded>
        <More query={runs} />
      </section>
    </div>
  );
}
