/** Frozen, hashed data: freeze it, look at its counts, export it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { address } from "@/api/client";
import { snapshotsQuery } from "@/api/projects";
import type { Snapshot } from "@/api/types";
import { Icon } from "@/components/icons";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { PlainText } from "@/components/text/plain-text";
import { useMayChange } from "@/components/use-may";
import { plural, shortHash, words } from "@/lib/format";
import { useAddress } from "@/lib/address/use-address";

import { chosenFrom, filterText } from "./freezing/chosen-prompts";
import { FreezeDialog, isKind } from "./freezing/freeze-dialog";
import type { Kind } from "./freezing/taken";

/** Every one that the server writes for a kind; docs/data.md says what is in each. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  prompts: ["native", "trl", "openrlhf"],
  demonstrations: ["native", "trl", "trl-implicit", "openrlhf"],
  preferences: ["native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"],
  solutions: ["native", "trl"],
};

/** Counted in comparisons, beside what the records hold. */
const MERGED = new Set(["apart", "outvoted"]);

function countsText(counts: Record<string, number>): string {
  return Object.entries(counts)
    .filter(([what, n]) => n > 0 && !MERGED.has(what))
    .map(([what, n]) => plural(n, what.replace(/s$/, "")))
    .join(", ");
}

/** What aggregation could not make one ranking of; docs/data.md says how it decides. */
function MergedNotes({ snapshot }: { snapshot: Snapshot }) {
  const total = (what: string) =>
    Object.values(snapshot.counts).reduce((sum, side) => sum + (side[what] ?? 0), 0);
  const [apart, outvoted] = [total("apart"), total("outvoted")];
  return (
    <>
      {apart > 0 && (
        <div className="faint">
          {plural(apart, "comparison")} split into several records: no chain of judgments connects
          all responses
        </div>
      )}
      {outvoted > 0 && (
        <div className="faint">
          {plural(outvoted, "comparison")} without a ranking: more annotators chose “all bad” or
          “cannot judge”
        </div>
      )}
    </>
  );
}

function Export({ snapshot }: { snapshot: Snapshot }) {
  const [format, setFormat] = useState("native");
  const href = address(`/snapshots/${snapshot.id}/export`, { format });
  return (
    <span className="row export">
      <select
        className="input"
        aria-label={`Format of ${snapshot.name}`}
        value={format}
        onChange={(event) => setFormat(event.target.value)}
      >
        {(FORMATS[snapshot.kind] ?? ["native"]).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <a className="btn" href={href} download={`${snapshot.name}.${format}.jsonl`}>
        Export
      </a>
    </span>
  );
}

/** Where demonstrations come from that a model has answered, and which answers were kept. */
function AnswersRule({ snapshot }: { snapshot: Snapshot }) {
  const answers: unknown = snapshot.filter["answers"];
  if (typeof answers !== "object" || answers === null) return null;
  const rule = answers as Readonly<Record<string, string | number | boolean | undefined>>;
  const runId = String(rule["run_id"]);
  const score = rule["term"] === undefined ? "weighted sum" : String(rule["term"]);
  const kept = [
    rule["best"] === undefined ? "all" : `best ${String(rule["best"])} of each prompt`,
    rule["min_score"] === undefined ? "" : `at least ${String(rule["min_score"])}`,
    rule["passed"] === true ? "passed" : "",
    rule["best"] === undefined && rule["min_score"] === undefined ? "" : `by ${score}`,
  ];
  return (
    <div className="small faint">
      answers of <Link to={`/projects/${snapshot.project_id}/runs/${runId}`}>a run</Link>:{" "}
      {kept.filter((part) => part !== "").join(", ")}
    </div>
  );
}

/** Which prompts alone it has. */
function PromptsRule({ snapshot }: { snapshot: Snapshot }) {
  const only = filterText(snapshot.filter);
  if (only === "") return null;
  return (
    <div className="small faint">
      only <PlainText text={only} />
    </div>
  );
}

function Row({ snapshot, isSelected }: { snapshot: Snapshot; isSelected: boolean }) {
  const { train = {}, heldout = {} } = snapshot.counts;
  return (
    <tr className={isSelected ? "selected" : ""}>
      <td>
        <b>{snapshot.name}</b>
      </td>
      <td data-label="Kind">
        <div>
          {snapshot.kind}
          {snapshot.aggregation !== "none" && (
            <div className="small faint">{words(snapshot.aggregation)}</div>
          )}
          {snapshot.criterion !== "" && <div className="small faint">by {snapshot.criterion}</div>}
          <AnswersRule snapshot={snapshot} />
          <PromptsRule snapshot={snapshot} />
        </div>
      </td>
      <td data-label="sha256">
        <Copyable text={snapshot.sha256} shown={shortHash(snapshot.sha256)} label="sha256" />
      </td>
      <td className="small" data-label="Contents">
        <div>
          <span className="nowrap">{countsText(train) || "nothing"}</span>
          {countsText(heldout) !== "" && (
            <div className="faint nowrap">held out: {countsText(heldout)}</div>
          )}
          <MergedNotes snapshot={snapshot} />
        </div>
      </td>
      <td className="small muted" data-label="Created">
        <Ago at={snapshot.created_at} />
      </td>
      <td>
        <Export snapshot={snapshot} />
      </td>
    </tr>
  );
}

export function SnapshotsTab({ projectId }: { projectId: string }) {
  const { search, set } = useAddress();
  const query = useQuery(snapshotsQuery(projectId));
  const mayChange = useMayChange(projectId);
  const asked = search.get("freeze");
  const open = (kind: Kind | null) => set({ freeze: kind, only: null });
  const freeze = mayChange && (
    <button type="button" className="btn primary" onClick={() => open("preferences")}>
      <Icon name="lock" /> Freeze a snapshot
    </button>
  );
  return (
    <section className="card">
      <Loaded query={query}>
        {({ items }) => (
          <Table
            hasCards
            columns={["Name", "Kind", "sha256", "Contents", "Created", "Export"]}
            items={items}
            empty={
              <Empty icon="lock" title="No snapshots yet" actions={freeze}>
                Runs read snapshots only, never live data. Each run records the hash of its
                snapshot, so that its result can be repeated.
                {!mayChange &&
                  " A snapshot appears here when a researcher of this project freezes it."}
              </Empty>
            }
          >
            {(snapshot) => (
              <Row
                key={snapshot.id}
                snapshot={snapshot}
                isSelected={snapshot.id === search.get("snapshot")}
              />
            )}
          </Table>
        )}
      </Loaded>
      {mayChange && isKind(asked) && (
        <FreezeDialog
          projectId={projectId}
          kind={asked}
          only={chosenFrom(search.get("only"))}
          onClose={() => open(null)}
        />
      )}
    </section>
  );
}
