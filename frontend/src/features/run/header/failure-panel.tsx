/** Why the run failed or crashed: one sentence, what exactly, what to do, and the evidence on demand. */
import { useQuery } from "@tanstack/react-query";
import type { SyntheticEvent } from "react";
import { Link } from "react-router";

import { failuresQuery, retryRun } from "@/api/runs";
import type { Failure as RunFailure, Run, RunError } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Icon } from "@/components/icons";
import { Refused } from "@/components/refused";
import { NoAnswer } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { useMayChange } from "@/components/use-may";
import { Sentence } from "@/components/text/sentence";
import { bytes, duration, number, plural, sentence, summaryLine, words } from "@/lib/format";

import { useRunAction } from "./use-run-action";

/** Measures in the order of interest, with how to write them. */
const MEASURES: readonly (readonly [string, string, (value: number) => string])[] = [
  ["peak_rss_bytes", "peak memory", bytes],
  ["gpu_peak_bytes", "peak GPU memory", bytes],
  ["disk_free_bytes", "disk free at the end", bytes],
  ["ran_s", "run time", duration],
  ["cpu_s", "CPU time", duration],
];

/** The end of a log is what is looked for. */
function showEnd({ currentTarget }: SyntheticEvent<HTMLDetailsElement>) {
  const box = currentTarget.lastElementChild;
  if (box !== null) box.scrollTop = box.scrollHeight;
}

function Resources({ end }: { end: RunFailure }) {
  const known = MEASURES.flatMap(([name, label, write]) => {
    const value = end.resources[name];
    return value == null ? [] : [[label, write(value)] as const];
  });
  if (known.length === 0) return null;
  return (
    <dl className="resources">
      {known.map(([label, value]) => (
        <div key={label}>
          <dt className="small muted">{label}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Log({ end }: { end: RunFailure }) {
  if (end.log.length === 0)
    return <p className="small muted">No log lines were collected from attempt {end.attempt}.</p>;
  return (
    <details onToggle={showEnd}>
      <summary>
        {end.log.length === 1 ? "The last line" : `The last ${end.log.length} lines`} of attempt{" "}
        {end.attempt}
      </summary>
      <div
        className="log-box"
        tabIndex={0}
        role="log"
        aria-label={`Last lines of attempt ${end.attempt}`}
      >
        {end.log.map((line, place) => (
          <div key={place} className={line.stream}>
            <span className="n">{place + 1}</span>
            <code>{line.text}</code>
          </div>
        ))}
      </div>
    </details>
  );
}

function Evidence({ end }: { end: RunFailure }) {
  return (
    <>
      <Resources end={end} />
      <Log end={end} />
    </>
  );
}

/** Failed and crashed attempts before the latest one. */
function EarlierFailures({ failures }: { failures: readonly RunFailure[] }) {
  if (failures.length === 0) return null;
  return (
    <details className="earlier">
      <summary>{plural(failures.length, "earlier attempt")} failed or crashed</summary>
      <ol>
        {failures.map((end) => (
          <li key={end.created_at}>
            <p>
              <span className="muted">
                attempt {end.attempt}, step {number(end.step)}, <Ago at={end.created_at} />:
              </span>{" "}
              {sentence(summaryLine(end.message))}
            </p>
            <Evidence end={end} />
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The exit code of a trainer that refused its config or its data. */
const CONFIG_OR_DATA = 2;

/** Queue the same config again; nobody has to know what retry means to press it. */
function Resume({ run }: { run: Run }) {
  const again = useRunAction((from: "checkpoint" | "start") => retryRun(run.id, from));
  const mayChange = useMayChange(run.project_id);
  if (!mayChange || !run.allowed.includes("retry")) return null;
  const step = run.pruned_at === null ? run.checkpoint_step : null;
  // The same config fails the same way; who changes it begins with a clone.
  const isRefused = run.exit_code === CONFIG_OR_DATA;
  return (
    <div className="row">
      {isRefused && (
        <Link className="btn primary" to={`/projects/${run.project_id}/runs/new?from=${run.id}`}>
          <Icon name="copy" /> Clone and change the config
        </Link>
      )}
      {step !== null && (
        <PendingButton
          className={isRefused ? "btn" : "btn primary"}
          isPending={again.isPending}
          onPress={() => again.mutate("checkpoint")}
        >
          <Icon name="play" /> Resume from step {number(step)}
        </PendingButton>
      )}
      <PendingButton
        className={step === null && !isRefused ? "btn primary" : "btn"}
        isPending={again.isPending}
        onPress={() => again.mutate("start")}
      >
        <Icon name="retry" /> Restart from the beginning
      </PendingButton>
      <Refused asked={again} />
    </div>
  );
}

/** What happened, exactly: one line at once, the whole on demand. */
function Message({ error }: { error: RunError }) {
  const line = summaryLine(error.message);
  return (
    <>
      {line !== error.sentence && <p>{sentence(line)}</p>}
      {error.message.trim() !== line && (
        <details>
          <summary>Full message</summary>
          <pre className="small">{error.message}</pre>
        </details>
      )}
    </>
  );
}

/** How much is computed at once: a change of it fits every checkpoint. */
const OF_PASSES = new Set(["optim.micro_batch_tokens", "optim.gradient_checkpointing"]);

/**
 * A time limit is counted from the checkpoint, and where memory ran out the advice names it if the
 * changes fit it; other changes may not.
 */
function startsFromCheckpoint({ cause, changes }: RunError): boolean {
  if (cause === "timeout") return true;
  return cause === "out_of_memory" && Object.keys(changes).every((path) => OF_PASSES.has(path));
}

function addressOfClone(run: Run, error: RunError): string {
  const isKept = run.pruned_at === null && startsFromCheckpoint(error);
  const step = isKept ? run.checkpoint_step : null;
  const from = step === null ? run.id : `${run.id}&step=${step}`;
  return `/projects/${run.project_id}/runs/new?from=${from}&advised`;
}

function Changes({ run, error }: { run: Run; error: RunError }) {
  const mayChange = useMayChange(run.project_id);
  const lines = Object.entries(error.changes).map(([path, value]) => `${path} = ${String(value)}`);
  if (lines.length === 0) return null;
  return (
    <p className="small muted">
      Suggested values for a clone: <code className="mono">{lines.join(", ")}</code>
      {mayChange && (
        <>
          {" "}
          <Link className="in-text" to={addressOfClone(run, error)}>
            Clone with these values
          </Link>
        </>
      )}
    </p>
  );
}

export function FailurePanel({ run }: { run: Run }) {
  const { error, attempt } = run;
  const query = useQuery({ ...failuresQuery(run.id), enabled: error !== null || attempt > 0 });
  const failures = query.data ?? [];
  const failed = query.error !== null && <NoAnswer query={query} />;
  if (error === null)
    return (
      <>
        {failed}
        <EarlierFailures failures={failures} />
      </>
    );
  const end = failures.find((one) => one.attempt === attempt);
  return (
    <section className="card failure" aria-label="Why the run ended">
      <header>
        <div role="alert">
          <h2>
            <Icon name="alert" /> {error.sentence}
          </h2>
        </div>
        <span className="tag">{words(error.cause)}</span>
        {run.exit_code !== null && (
          <span className="small mono muted">exit code {run.exit_code}</span>
        )}
        <span className="grow" />
        <Link className="btn" to={`/projects/${run.project_id}/runs/${run.id}/logs`}>
          All logs
        </Link>
      </header>
      <Message error={error} />
      <p>
        <b>
          <Sentence text={error.advice} />
        </b>
      </p>
      <Changes run={run} error={error} />
      <Resume run={run} />
      {failed}
      {end !== undefined && <Evidence end={end} />}
      <EarlierFailures failures={failures.filter((one) => one !== end)} />
    </section>
  );
}
