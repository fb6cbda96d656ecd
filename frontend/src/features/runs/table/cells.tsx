/** What stands in a column of a run. */
import { useQuery } from "@tanstack/react-query";

import { experimentQuery, experimentsQuery } from "@/api/experiments";
import type { Run } from "@/api/types";
import { StatePill } from "@/components/run-state";
import { ProgressBar } from "@/components/run-list/progress-bar";
import { timeLeft } from "@/components/run-list/time-left";
import { LastValue, Trend } from "@/components/run-list/trends";
import type { Standing } from "@/components/metrics/headline";
import { Ago } from "@/components/text/clock";
import { MethodTitle } from "@/components/text/names";
import { VerdictFailed, VerdictPill } from "@/components/verdict/verdict-pill";
import { number } from "@/lib/format";

export interface CellProps {
  readonly run: Run;
  readonly headline: Standing | undefined;
  /** Whether its verdict did not load. */
  readonly isVerdictLost: boolean;
  readonly experiment: string | undefined;
}

const nothing = <span className="faint">–</span>;

export function Cell({ column, ...of }: CellProps & { column: string }) {
  const { run, headline } = of;
  switch (column) {
    case "state":
      return <StatePill state={run.state} title={run.state_sentence} />;
    case "verdict":
      return <TheVerdict run={run} hasFailed={of.isVerdictLost} />;
    case "method":
      return <TheMethod run={run} />;
    case "experiment":
      if (run.experiment_id === null) return nothing;
      return of.experiment ?? <UnlistedExperiment run={run} id={run.experiment_id} />;
    case "latest":
      return <LastValue run={run} headline={headline} />;
    case "trend":
      return <Trend headline={headline} />;
    case "progress":
      return <Progress run={run} />;
    case "created":
      return <Ago at={run.created_at} />;
    case "started":
      return run.started_at === null ? nothing : <Ago at={run.started_at} />;
    case "finished":
      return run.finished_at === null ? nothing : <Ago at={run.finished_at} />;
    default:
      return <Value value={valueOf(run, column)} />;
  }
}

/** The list of experiments leaves out those that are archived, and the oldest of very many. */
function UnlistedExperiment({ run, id }: { run: Run; id: string }) {
  const isListKnown = useQuery(experimentsQuery(run.project_id)).data !== undefined;
  const { data, error } = useQuery({ ...experimentQuery(id), enabled: isListKnown });
  if (data === undefined)
    return <span className="faint">{error === null ? "…" : "not known"}</span>;
  return (
    <span>
      {data.name}
      {data.archived_at !== null && <span className="small faint of-what"> archived</span>}
    </span>
  );
}

/** The estimator in a line of its own: the column of a table is narrow. */
function TheMethod({ run }: { run: Run }) {
  return (
    <span>
      <MethodTitle method={run.method} />{" "}
      {run.estimator !== null && <span className="small faint of-what">{run.estimator}</span>}
    </span>
  );
}

/** A run is judged in lists once it has ended: until then the verdict would change all the time. */
function TheVerdict({ run, hasFailed }: { run: Run; hasFailed: boolean }) {
  if (run.verdict !== null) return <VerdictPill verdict={run.verdict} />;
  if (hasFailed) return <VerdictFailed />;
  const [text, title] =
    run.finished_at === null
      ? [
          "after the run ends",
          "The verdict appears here when the run has ended. The page of the run has one now.",
        ]
      : ["not judged yet", "This list has no verdict of the run yet. The page of the run has one."];
  return (
    <span className="small faint" title={title}>
      {text}
    </span>
  );
}

/** The newest value of a metric is told by the stream; the others are as the list was loaded. */
function valueOf(run: Run, column: string) {
  const name = column.startsWith("metric.") ? column.slice("metric.".length) : null;
  return (name === null ? undefined : run.summary[name]) ?? run.values?.[column] ?? null;
}

function Value({ value }: { value: string | number | boolean | null }) {
  if (value === null) return nothing;
  if (typeof value === "number")
    return (
      <span className="mono" title={String(value)}>
        {number(value)}
      </span>
    );
  return (
    <span className="mono cut" title={String(value)}>
      {String(value)}
    </span>
  );
}

function Progress({ run }: { run: Run }) {
  const { step, steps } = run.progress;
  const left = run.state === "running" ? timeLeft(run.progress) : null;
  return (
    <div className="progress-cell">
      <ProgressBar run={run} />
      <span className="small faint mono nowrap">
        {steps > 0 ? `${number(step)} / ${number(steps)}` : "–"}
      </span>
      {left !== null && <span className="small faint of-what nowrap">{left}</span>}
    </div>
  );
}
