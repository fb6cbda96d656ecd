/** An object as indented keys and values: quicker to read than JSON, and copied as JSON. */
import { Link } from "react-router";

import type { Json, JsonObject } from "@/api/types";
import { Copyable } from "@/components/text/copyable";
import { shortHash } from "@/lib/format";

export function Tree({ value, project }: { value: JsonObject; project: string }) {
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
      <ul>
        {value.map((item, place) => (
          <li key={place}>
            <Leaf name={name} value={item} project={project} />
          </li>
        ))}
      </ul>
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
