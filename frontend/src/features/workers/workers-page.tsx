/** Machines, their devices, what runs where, last sign of life. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { workersQuery } from "@/api/runs";
import type { Worker } from "@/api/types";
import { Ago } from "@/components/clock";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { bytes, plural, shortId } from "@/lib/format";

const REFRESH_MS = 5000;

function deviceText(device: Record<string, unknown>): string {
  const name = device["name"] ?? device["kind"] ?? "device";
  const memory = device["memory_bytes"];
  return `${String(name)}${typeof memory === "number" ? `, ${bytes(memory)}` : ""}`;
}

function Row({ worker }: { worker: Worker }) {
  return (
    <tr>
      <td>
        <b>{worker.host}</b> <span className="mono faint">pid {worker.pid}</span>
      </td>
      <td>
        <span className={worker.is_alive ? "pill good" : "pill bad"}>
          {worker.is_alive ? "alive" : "silent"}
        </span>
      </td>
      <td className="nowrap">
        {worker.busy} of {plural(worker.slots, "slot")}
      </td>
      <td>{worker.devices.length === 0 ? "CPU" : worker.devices.map(deviceText).join("; ")}</td>
      <td className="mono">
        {worker.busy === 0 && <span className="faint">idle</span>}
        {worker.busy > worker.run_ids.length && (
          <span className="faint">{worker.busy - worker.run_ids.length} of other projects </span>
        )}
        {worker.run_ids.map((id) => (
          <Link key={id} to={`/runs/${id}`}>
            {shortId(id)}{" "}
          </Link>
        ))}
      </td>
      <td className="small muted">
        <Ago at={worker.beat_at} />
      </td>
    </tr>
  );
}

export function WorkersPage() {
  const workers = useQuery({ ...workersQuery, refetchInterval: REFRESH_MS });
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Workers</h1>
          <p>A worker takes queued runs that fit its free devices and sees them through.</p>
        </div>
      </div>
      <section className="card">
        <Loaded query={workers}>
          {({ items, queued_runs: queued }) => (
            <>
              <p className="card-title">
                {queued === 0 ? (
                  <span className="muted">No run waits in the queue.</span>
                ) : (
                  <>
                    <b>{plural(queued, "run")} in the queue</b>
                    <span className="muted">
                      ; the highest priority goes first, then the oldest.
                    </span>
                  </>
                )}
              </p>
              <Table
                columns={["Machine", "State", "Busy", "Devices", "Runs", "Last beat"]}
                items={items}
                empty={
                  <Empty icon="workers" title="No worker has reported">
                    Queued runs wait until one does. make up starts one on this machine; docker
                    compose starts them elsewhere.
                  </Empty>
                }
              >
                {(worker) => <Row key={worker.id} worker={worker} />}
              </Table>
            </>
          )}
        </Loaded>
      </section>
    </div>
  );
}
