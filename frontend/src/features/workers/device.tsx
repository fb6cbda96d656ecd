/** One device of a worker: what it is, how full, and who holds it. */
import { Link } from "react-router";

import type { Device } from "@/api/types";
import { Sentence } from "@/components/text/sentence";
import { bytes, plural, shortId } from "@/lib/format";

/** A share as a bar, with its numbers in words beside it. */
export function Meter(props: { label: string; used: number; total: number; isTight?: boolean }) {
  const share = props.total > 0 ? Math.min(100, (100 * props.used) / props.total) : 0;
  return (
    <div className="meter">
      <div className={props.isTight === true ? "bar tight" : "bar"} aria-hidden="true">
        <i style={{ width: `${share}%` }} />
      </div>
      <span className="small muted nowrap">{props.label}</span>
    </div>
  );
}

interface DeviceUse {
  busy: number;
  run_ids: string[];
  /** How many of `busy` are about to let go. */
  leaving?: number;
}

/** Runs at work: links to those one may see, and how many others there are. */
export function RunLinks({ busy, run_ids: ids, leaving = 0 }: DeviceUse) {
  const hidden = busy - leaving - ids.length;
  return (
    <span className="small">
      {ids.map((id) => (
        <Link key={id} className="mono" to={`/runs/${id}`}>
          {shortId(id)}{" "}
        </Link>
      ))}
      {hidden > 0 && <span className="faint">{plural(hidden, "run")} of other projects</span>}
      {hidden > 0 && leaving > 0 && <span className="faint">, </span>}
      {leaving > 0 && <span className="faint">{plural(leaving, "run")} releasing it</span>}
    </span>
  );
}

function DeviceStatus({ device }: { device: Device }) {
  if (device.fault !== null) return <span className="pill bad">unavailable</span>;
  if (device.is_returning) return <span className="pill warn">freeing memory</span>;
  if (device.busy === 0) return <span className="pill good">free</span>;
  return <RunLinks {...device} />;
}

/** A device of a worker that is gone is neither free nor anybody's. */
export function DeviceRow({ device, isGone }: { device: Device; isGone: boolean }) {
  const { memory_bytes: total, memory_used_bytes: used } = device;
  const title = device.kind === "cpu" ? plural(device.cores ?? 1, "core") : (device.name ?? "GPU");
  return (
    <li className="device">
      <div>
        <b>{device.kind === "cpu" ? "CPU" : title}</b>{" "}
        <span className="small faint mono">
          {device.kind === "cpu" ? title : shortId(device.id ?? "")}
        </span>
      </div>
      {device.kind === "cpu" ? (
        <Meter
          label={`${device.busy} of ${plural(device.slots ?? 1, "slot")} in use`}
          used={device.busy}
          total={device.slots ?? 1}
        />
      ) : total !== null && used !== null ? (
        <Meter label={`${bytes(used)} of ${bytes(total)}`} used={used} total={total} />
      ) : (
        <span className="small faint">memory use unknown</span>
      )}
      {isGone ? <span className="small faint">unreachable</span> : <DeviceStatus device={device} />}
      {device.fault !== null && (
        <p className="small bad-text">
          <Sentence text={device.fault} />
        </p>
      )}
    </li>
  );
}
