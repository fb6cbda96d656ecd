/** Machines: how each worker is, what it has, who holds what, and its last sign of life. */
import "./workers.css";

import { useQuery } from "@tanstack/react-query";

import { workersQuery } from "@/api/runs";
import type { Worker, WorkerState } from "@/api/types";
import { EmptyCard, Loaded, NoAnswer } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { Sentence } from "@/components/text/sentence";
import { PageTitle } from "@/components/page-title";
import { bytes, plural, words } from "@/lib/format";

import { DeviceRow, Meter, RunLinks } from "./device";

const REFRESH_MS = 2000;

const TONES: Readonly<Record<WorkerState, string>> = {
  ready: "good",
  disk_low: "warn",
  draining: "warn",
  silent: "bad",
  lost: "bad",
};

function Measures({ worker }: { worker: Worker }) {
  const { disk_free_bytes: free, disk_bytes: disk, disk_needed_bytes: needed } = worker;
  const { memory_used_bytes: used, memory_bytes: memory } = worker;
  return (
    <div className="measures">
      {used !== null && memory !== null && (
        <Meter label={`memory ${bytes(used)} of ${bytes(memory)}`} used={used} total={memory} />
      )}
      {free !== null && disk !== null && (
        <Meter
          label={`disk ${bytes(disk - free)} of ${bytes(disk)}, ${bytes(free)} free`}
          used={disk - free}
          total={disk}
          isTight={free < (needed ?? 0)}
        />
      )}
    </div>
  );
}

function Runs({ worker }: { worker: Worker }) {
  if (!worker.is_alive) return null;
  if (worker.busy === 0) return <span className="small faint">idle</span>;
  return (
    <span className="small">
      {worker.run_ids.length > 0 && "running "}
      <RunLinks {...worker} />
    </span>
  );
}

function Card({ worker }: { worker: Worker }) {
  return (
    <section
      className={worker.is_alive ? "card worker" : "card worker gone"}
      aria-label={`Worker on ${worker.host}`}
    >
      <header>
        <h2>{worker.host}</h2>
        <span className={`pill ${TONES[worker.state]}`}>{words(worker.state)}</span>
        <span className="small faint mono">pid {worker.pid}</span>
        <Runs worker={worker} />
        <span className="grow" />
        <span className="small muted">
          last heartbeat <Ago at={worker.beat_at} />
        </span>
      </header>
      <p className="small muted">
        <Sentence text={worker.state_sentence} />
      </p>
      <Measures worker={worker} />
      <ul className="devices">
        {worker.devices.map((device) => (
          <DeviceRow key={device.id ?? device.kind} device={device} isGone={!worker.is_alive} />
        ))}
      </ul>
    </section>
  );
}

export function WorkersPage() {
  const workers = useQuery({ ...workersQuery, refetchInterval: REFRESH_MS });
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <PageTitle>Workers</PageTitle>
          <h1>Workers</h1>
          <p>A worker claims queued runs that fit its free devices and executes them.</p>
        </div>
      </div>
      {workers.data !== undefined && workers.error !== null && (
        // What is on the screen is old by now, and a page of old heartbeats must say so.
        <NoAnswer query={workers} />
      )}
      <Loaded query={workers}>
        {({ items, queued_runs: queued }) => (
          <>
            <p className={queued === 0 ? "muted" : undefined}>
              {queued === 0
                ? "The queue is empty."
                : `${plural(queued, "run")} in the queue. Runs with a higher priority start first; of runs with equal priority, the oldest starts first.`}
            </p>
            {items.length === 0 ? (
              <EmptyCard icon="workers" title="No worker is connected">
                Queued runs wait until a worker starts. <code>make up</code> starts its worker again
                by itself; <code>logs/worker.log</code> in the data directory says why it ended. In
                other installations start one with{" "}
                <code>celery --app worker.celery_app worker</code> or <code>docker compose up</code>
                .
              </EmptyCard>
            ) : (
              items.map((worker) => <Card key={worker.id} worker={worker} />)
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
