/** Base -> SFT -> reward model -> policy, with the snapshot each step used. */
import { Link } from "react-router";

import type { LineageNode } from "@/api/types";
import { Icon } from "@/components/icons";
import { MethodTitle } from "@/components/text/names";

import { edgesOf, layout, type Placed } from "./layout";

const BOX = { width: 208, height: 108, gapX: 72, gapY: 22 };

const left = ({ column }: Placed) => column * (BOX.width + BOX.gapX);
const top = ({ row }: Placed) => row * (BOX.height + BOX.gapY);

function path(from: Placed, to: Placed): string {
  if (to.column - from.column > 1 && from.row === to.row) return pathBelow(from, to);
  const x1 = left(from) + BOX.width;
  const y1 = top(from) + BOX.height / 2;
  const x2 = left(to) - 4;
  const y2 = top(to) + BOX.height / 2;
  const bend = Math.max(36, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** An edge that skips a column leaves and arrives below the boxes in between. */
function pathBelow(from: Placed, to: Placed): string {
  const x1 = left(from) + BOX.width * 0.75;
  const x2 = left(to) + BOX.width * 0.25;
  const y = top(from) + BOX.height;
  const deep = y + BOX.height * 0.55;
  return `M${x1} ${y}C${x1 + 40} ${deep} ${x2 - 40} ${deep} ${x2} ${y + 5}`;
}

function Box({
  placed,
  projectId,
  isSelf,
}: {
  placed: Placed;
  projectId: string;
  isSelf: boolean;
}) {
  const { node } = placed;
  const base = `/projects/${projectId}`;
  return (
    <li
      className={isSelf ? "box self" : "box"}
      style={{ left: left(placed), top: top(placed), width: BOX.width, height: BOX.height }}
    >
      <span className="small faint">
        {node.method === null ? "Base model" : <MethodTitle method={node.method} />}
      </span>
      <Link className="clip" to={`${base}/models/${node.model_id}`} title={node.name}>
        <b>{node.name}</b>
      </Link>
      <span className="links">
        {node.run_id !== null && (
          <Link to={`${base}/runs/${node.run_id}`} title={`run ${node.run_name ?? ""}`}>
            <Icon name="runs" /> <span className="clip">{node.run_name ?? "run"}</span>
          </Link>
        )}
        {node.snapshot_ids.map((id, place) => (
          <Link
            key={id}
            to={`${base}/data/snapshots?snapshot=${id}`}
            title={`snapshot ${node.snapshot_names[place] ?? id}`}
          >
            <Icon name="lock" /> <span className="clip">{node.snapshot_names[place] ?? id}</span>
          </Link>
        ))}
      </span>
    </li>
  );
}

export function Lineage(props: {
  nodes: readonly LineageNode[];
  selfId: string;
  projectId: string;
}) {
  const placed = layout(props.nodes);
  const byId = new Map(placed.map((one) => [one.node.model_id, one]));
  const width = Math.max(...placed.map((one) => left(one) + BOX.width));
  const height = Math.max(...placed.map((one) => top(one) + BOX.height)) + BOX.height * 0.7;
  return (
    <div className="lineage">
      <div className="canvas" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="tip"
              viewBox="0 0 8 8"
              refX="6"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" className="tip" />
            </marker>
          </defs>
          {edgesOf(props.nodes).map((edge) => {
            const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
            if (from === undefined || to === undefined) return null;
            return (
              <path
                key={`${edge.from}-${edge.to}-${String(edge.isScore)}`}
                className={edge.isScore ? "edge score" : "edge"}
                d={path(from, to)}
                markerEnd="url(#tip)"
              />
            );
          })}
        </svg>
        <ul>
          {placed.map((one) => (
            <Box
              key={one.node.model_id}
              placed={one}
              projectId={props.projectId}
              isSelf={one.node.model_id === props.selfId}
            />
          ))}
        </ul>
      </div>
      <p className="small muted lineage-legend">
        <span className="legend-line" /> weights initialized from{" "}
        <span className="legend-line score" /> scored by
      </p>
    </div>
  );
}
