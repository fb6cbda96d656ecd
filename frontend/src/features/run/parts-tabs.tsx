/** The quieter tabs of a run: its config, what happened to it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { eventsQuery } from "@/api/runs";
import type { Json, JsonObject, Run, RunEvent } from "@/api/types";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { plural, shortHash } from "@/lib/format";

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
          <p className="muted">The trainer reports its environment when it starts.</p>
        ) : (
          <Tree value={run.environment as JsonObject} project={run.project_id} />
        )}
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
