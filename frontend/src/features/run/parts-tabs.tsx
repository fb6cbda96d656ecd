/** The quieter tabs of a run: its config, what it saved, what happened to it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { artifactsQuery, checkpointsQuery, eventsQuery } from "@/api/runs";
import type { Json, JsonObject, Run, RunEvent } from "@/api/types";
import { Ago } from "@/components/clock";
import { Copyable } from "@/components/copyable";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { bytes, plural, shortHash } from "@/lib/format";

import { ContinueLink } from "./continue-link";

/** Config as indented keys and values: quicker to read than JSON, and copied as JSON. */
function Tree({ value, project }: { value: JsonObject; project: string }) {
  return (
    <dl className="tree">
      {Object.entries(value).map(([key, child]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            <Leaf name={key} value={child} project={project} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Leaf({ name, value, project }: { name: string; value: Json; project: string }) {
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="faint">none</span>;
    return (
      <>
        {value.map((item, place) => (
          <Leaf key={place} name={name} value={item} project={project} />
        ))}
      </>
    );
  }
  if (value !== null && typeof value === "object") return <Tree value={value} project={project} />;
  if (typeof value === "string" && /^model_[a-z0-9]+$/.test(value))
    return <Link to={`/projects/${project}/models/${value}`}>{value}</Link>;
  if (typeof value === "string" && /^snapshot_[a-z0-9]+$/.test(value))
    return <Link to={`/projects/${project}/data/snapshots?snapshot=${value}`}>{value}</Link>;
  if (name === "sha256" && typeof value === "string")
    return <Copyable text={value} shown={shortHash(value)} label="sha256" />;
  if (value === null) return <span className="faint">null</span>;
  return <span>{value === "" ? '""' : String(value)}</span>;
}

export function ConfigTab({ run }: { run: Run }) {
  return (
    <div className="two">
      <section className="card padded">
        <header className="row">
          <h2>Config</h2>
          <span className="grow" />
          <Copyable
            text={JSON.stringify(run.config, null, 2)}
            shown="copy as JSON"
            label="config"
          />
        </header>
        <Tree value={run.config as JsonObject} project={run.project_id} />
      </section>
      <section className="card padded">
        <h2>Environment</h2>
        {Object.keys(run.environment).length === 0 ? (
          <p className="muted">Written by the trainer when it starts.</p>
        ) : (
          <Tree value={run.environment as JsonObject} project={run.project_id} />
        )}
      </section>
    </div>
  );
}

export function CheckpointsTab({ run }: { run: Run }) {
  const checkpoints = useQuery(checkpointsQuery(run.id));
  const artifacts = useQuery(artifactsQuery(run.id));
  return (
    <div className="two">
      <section className="card">
        <h2 className="card-title">Checkpoints</h2>
        <Loaded query={checkpoints}>
          {(items) => (
            <Table
              columns={[["Step", "num"], ["Attempt", "num"], "Written", "Note", "New run"]}
              items={items}
              empty={
                <Empty icon="file" title="No checkpoints">
                  They are written every checkpoint_every steps, and when a run is asked to stop.
                </Empty>
              }
            >
              {(one) => (
                <tr key={one.step}>
                  <td className="num">{one.step}</td>
                  <td className="num">{one.attempt}</td>
                  <td>
                    <Ago at={one.created_at} />
                  </td>
                  <td>{one.is_best && <span className="pill good">best</span>}</td>
                  <td>
                    <ContinueLink
                      run={run}
                      step={one.step}
                      label={`Continue from step ${one.step}`}
                    >
                      Continue…
                    </ContinueLink>
                  </td>
                </tr>
              )}
            </Table>
          )}
        </Loaded>
      </section>
      <section className="card">
        <h2 className="card-title">Results</h2>
        {run.output_model_ids.map((id) => (
          <p className="card-title" key={id}>
            <Link to={`/projects/${run.project_id}/models/${id}`}>Open the model it made</Link>
          </p>
        ))}
        <Loaded query={artifacts}>
          {(items) => (
            <Table
              columns={[]}
              items={items}
              empty={
                <Empty icon="file" title="No files yet">
                  The final model and other results come home when the run succeeds.
                </Empty>
              }
            >
              {(file) => (
                <tr key={file.path}>
                  <td className="mono">{file.path}</td>
                  <td className="num">{bytes(file.size_bytes)}</td>
                  <td>
                    <Copyable text={file.sha256} shown={shortHash(file.sha256)} label="sha256" />
                  </td>
                </tr>
              )}
            </Table>
          )}
        </Loaded>
      </section>
    </div>
  );
}

function said(event: RunEvent): string {
  const { run: _run, seq: _seq, at: _at, type: _type, ...data } = event.data;
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([key, value]) =>
        `${key} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    )
    .join(", ");
}

export function EventsTab({ runId }: { runId: string }) {
  const query = useQuery(eventsQuery(runId));
  return (
    <Loaded query={query}>
      {(events) => {
        const shown = events.toReversed();
        return (
          <section className="card">
            <h2 className="card-title">{plural(shown.length, "event")}</h2>
            <ol className="events">
              {shown.map((event) => (
                <li key={event.seq}>
                  <Ago at={event.created_at} />
                  <span className="tag">{event.type}</span>
                  <span className="small">{said(event)}</span>
                </li>
              ))}
            </ol>
          </section>
        );
      }}
    </Loaded>
  );
}
