/** Frozen, hashed data: freeze it, look at its counts, export it. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link, useSearchParams } from "react-router";

import { address } from "@/api/client";
import { freezeSnapshot, snapshotsQuery } from "@/api/projects";
import type { Aggregation, Snapshot, SnapshotBody } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { CriterionChoice } from "@/components/form/criterion-choice";
import { HeldOutField } from "@/components/form/held-out-field";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { plural, shortHash, words } from "@/lib/format";

type Kind = SnapshotBody["kind"];

const KINDS: readonly (readonly [Kind, string])[] = [
  ["prompts", "Prompts"],
  ["demonstrations", "Demonstrations"],
  ["preferences", "Preferences"],
  ["solutions", "Solutions"],
];

/** What becomes of several judgments of one comparison; docs/data.md says how. */
const AGGREGATIONS: Record<Aggregation, string> = {
  none: "Keep every judgment",
  ranked_pairs: "One ranking, by ranked pairs",
  bradley_terry: "One ranking, by Bradley-Terry strengths",
  crowd_bradley_terry: "One ranking, reliable annotators count more (Crowd-BT)",
};

const FORMATS = ["native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"] as const;

const isKind = (text: string | null): text is Kind => KINDS.some(([kind]) => kind === text);

function FreezeDialog(props: { projectId: string; kind: Kind; onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState(props.kind);
  const [percent, setPercent] = useState("10");
  const [seed, setSeed] = useState("0");
  const [aggregation, setAggregation] = useState<Aggregation>("none");
  const [criterion, setCriterion] = useState<string | null>(null);
  const ids = [useId(), useId()] as const;
  const freeze = () =>
    freezeSnapshot(props.projectId, {
      name: name.trim(),
      kind,
      heldout_fraction: Number(percent) / 100,
      seed: Number(seed),
      aggregation: kind === "preferences" ? aggregation : "none",
      criterion: kind === "preferences" ? criterion : null,
    });
  return (
    <CreateForm
      create={freeze}
      list={["project", props.projectId, "snapshots"]}
      verb={
        <>
          <Icon name="lock" /> Freeze
        </>
      }
      isComplete={name.trim() !== ""}
      dialog={{ title: "Freeze a snapshot", onClose: props.onClose }}
    >
      <p className="muted">
        The snapshot contains every record of this kind as it is now. Later changes to the data do
        not change the snapshot.
      </p>
      <Segmented label="Kind" value={kind} options={KINDS} onChange={setKind} />
      <NameField value={name} onChange={setName} />
      {kind === "preferences" && (
        <CriterionChoice projectId={props.projectId} value={criterion} onChange={setCriterion} />
      )}
      {kind === "preferences" && (
        <div className="field">
          <label htmlFor={ids[0]}>Several judgments of one comparison</label>
          <select
            id={ids[0]}
            className="input"
            value={aggregation}
            onChange={(event) => setAggregation(event.target.value as Aggregation)}
          >
            {Object.entries(AGGREGATIONS).map(([way, label]) => (
              <option key={way} value={way}>
                {label}
              </option>
            ))}
          </select>
        </div>
      )}
      <div className="pair">
        <HeldOutField
          hint="All records of a prompt go to the same split."
          value={percent}
          onChange={setPercent}
        />
        <div className="field">
          <label htmlFor={ids[1]}>Split seed</label>
          <input
            id={ids[1]}
            className="input"
            type="number"
            min={0}
            value={seed}
            onChange={(event) => setSeed(event.target.value)}
          />
        </div>
      </div>
    </CreateForm>
  );
}

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
  const [format, setFormat] = useState<(typeof FORMATS)[number]>("native");
  const formats = snapshot.kind === "preferences" ? FORMATS : (["native"] as const);
  const href = address(`/snapshots/${snapshot.id}/export`, { format });
  return (
    <span className="row export">
      <select
        className="input"
        aria-label={`Format of ${snapshot.name}`}
        value={format}
        onChange={(event) => setFormat(event.target.value as typeof format)}
      >
        {formats.map((name) => (
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

function Row({ snapshot, isSelected }: { snapshot: Snapshot; isSelected: boolean }) {
  const { train = {}, heldout = {} } = snapshot.counts;
  return (
    <tr className={isSelected ? "selected" : ""}>
      <td>
        <b>{snapshot.name}</b>
      </td>
      <td>
        {snapshot.kind}
        {snapshot.aggregation !== "none" && (
          <div className="small faint">{words(snapshot.aggregation)}</div>
        )}
        {snapshot.criterion !== "" && <div className="small faint">by {snapshot.criterion}</div>}
        <AnswersRule snapshot={snapshot} />
      </td>
      <td>
        <Copyable text={snapshot.sha256} shown={shortHash(snapshot.sha256)} label="sha256" />
      </td>
      <td className="small">
        <span className="nowrap">{countsText(train) || "nothing"}</span>
        {countsText(heldout) !== "" && (
          <div className="faint nowrap">held out: {countsText(heldout)}</div>
        )}
        <MergedNotes snapshot={snapshot} />
      </td>
      <td className="small muted">
        <Ago at={snapshot.created_at} />
      </td>
      <td>
        <Export snapshot={snapshot} />
      </td>
    </tr>
  );
}

export function SnapshotsTab({ projectId }: { projectId: string }) {
  const [search, setSearch] = useSearchParams();
  const query = useQuery(snapshotsQuery(projectId));
  const asked = search.get("freeze");
  const open = (kind: Kind | null) =>
    setSearch(kind === null ? {} : { freeze: kind }, { replace: true });
  const freeze = (
    <button type="button" className="btn primary" onClick={() => open("preferences")}>
      <Icon name="lock" /> Freeze a snapshot
    </button>
  );
  return (
    <section className="card">
      <Loaded query={query}>
        {({ items }) => (
          <Table
            columns={["Name", "Kind", "sha256", "Contents", "Created", "Export"]}
            items={items}
            empty={
              <Empty icon="lock" title="No snapshots yet" actions={freeze}>
                Runs read snapshots only, never live data. Each run records the hash of its
                snapshot, so that its result can be repeated.
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
      {isKind(asked) && (
        <FreezeDialog projectId={projectId} kind={asked} onClose={() => open(null)} />
      )}
    </section>
  );
}
