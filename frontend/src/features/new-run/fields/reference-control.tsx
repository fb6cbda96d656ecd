/** A picker over the models or snapshots that fit; a language model may also come from a hub. */
import { useState } from "react";
import { Link } from "react-router";

import type { Json, JsonObject, Model, Snapshot } from "@/api/types";
import { Icon } from "@/components/icons";
import { Copyable } from "@/components/text/copyable";
import { MODEL_KIND_NAMES } from "@/components/text/names";
import { fitting } from "@/features/new-run/config/initial-config";
import { emptyWord, isObject, type FieldOf } from "@/features/new-run/config/schema";
import { ago, number, plural, shortHash, shortId, words } from "@/lib/format";

import { useForm } from "./form-context";

const HUB = "hub:";

const isModelKind = (kind: string): kind is Model["kind"] => kind in MODEL_KIND_NAMES;

export function ReferenceControl(props: {
  field: FieldOf<"reference">;
  id: string;
  describedBy: string;
  isInvalid: boolean;
  value: Json | undefined;
  onChange: (value: JsonObject | undefined) => void;
}) {
  const { candidates } = useForm();
  const { wants } = props.field;
  const fits = fitting(candidates, wants);
  const hubId = textIn(props.value, "hub_id");
  const id = textIn(props.value, "id") ?? "";
  const chosen = fits.find((one) => one.id === id);
  // A config from elsewhere may name a hub where none can be used.
  const takesHub = wants === "causal_lm" || hubId !== null;
  if (fits.length === 0 && hubId === null && id === "") return <NothingFits {...props} />;
  return (
    <>
      <select
        id={props.id}
        className="input"
        aria-describedby={props.describedBy}
        aria-invalid={props.isInvalid || undefined}
        value={hubId === null ? id : HUB}
        onChange={(event) => props.onChange(referenceTo(event.target.value))}
      >
        <option value="">{props.field.isRequired ? "Choose…" : emptyWord(props.field)}</option>
        <CandidateOptions candidates={fits} id={id} />
        {takesHub && <option value={HUB}>Hugging Face Hub id…</option>}
      </select>
      {hubId !== null && <HubName name={hubId} field={props.field} onChange={props.onChange} />}
      {chosen !== undefined && <Chosen one={chosen} />}
    </>
  );
}

function CandidateOptions(props: { candidates: readonly (Model | Snapshot)[]; id: string }) {
  const { candidates, id } = props;
  const [opened] = useState(() => Date.now());
  const isListed = id === "" || candidates.some((one) => one.id === id);
  return (
    <>
      {!isListed && <option value={id}>{shortId(id)}, not listed</option>}
      {candidates.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
          {origin(one)} · {ago(one.created_at, opened)}
        </option>
      ))}
    </>
  );
}

function textIn(reference: Json | undefined, key: string): string | null {
  const text = isObject(reference) ? reference[key] : undefined;
  return typeof text === "string" ? text : null;
}

function referenceTo(value: string): JsonObject | undefined {
  if (value === "") return undefined;
  return value === HUB ? { hub_id: "" } : { id: value };
}

function HubName(props: {
  name: string;
  field: FieldOf<"reference">;
  onChange: (value: JsonObject) => void;
}) {
  return (
    <input
      className="input mono"
      aria-label={`Hugging Face Hub id of ${props.field.name}`}
      placeholder="owner/name"
      spellCheck={false}
      autoFocus
      value={props.name}
      onChange={(event) => props.onChange({ hub_id: event.target.value })}
    />
  );
}

const isSnapshot = (one: Model | Snapshot): one is Snapshot => "counts" in one;

const origin = (one: Model | Snapshot) =>
  isSnapshot(one) ? "" : one.run_id === null ? " · base model" : " · from a run";

function contents(snapshot: Snapshot): string {
  const noun = snapshot.kind === "preferences" ? "pairs" : "records";
  const count = (split: string) => snapshot.counts[split]?.[noun] ?? 0;
  const heldOut = count("heldout");
  const trained = plural(count("train"), noun.slice(0, -1));
  return `${trained} to train on${heldOut > 0 ? `, ${number(heldOut)} held out` : ""}`;
}

function Chosen({ one }: { one: Model | Snapshot }) {
  const { projectId } = useForm();
  const to = isSnapshot(one)
    ? `/projects/${projectId}/data/snapshots?snapshot=${one.id}`
    : `/projects/${projectId}/models/${one.id}`;
  return (
    <span className="row small">
      <Link to={to}>{isSnapshot(one) ? "See the snapshot" : "See the model"}</Link>
      {one.sha256 !== null && (
        <Copyable text={one.sha256} shown={shortHash(one.sha256)} label="sha256" />
      )}
      {isSnapshot(one) && <span className="faint">{contents(one)}</span>}
    </span>
  );
}

function NothingFits(props: {
  id: string;
  field: FieldOf<"reference">;
  onChange: (value: JsonObject) => void;
}) {
  const { projectId, methods, beginWith } = useForm();
  const base = `/projects/${projectId}`;
  const { wants } = props.field;
  const isModel = isModelKind(wants);
  // Language models come from elsewhere, be it a hub; any other kind only a run of Podium makes.
  const isLanguageModel = wants === "causal_lm";
  const trainer = isLanguageModel ? undefined : methods.find(({ result }) => result === wants);
  return (
    <div className="note" id={props.id} tabIndex={-1}>
      <Icon name={isModel ? "models" : "data"} />
      <div className="grow">
        {isModel ? (
          <>
            No {MODEL_KIND_NAMES[wants]} yet.{" "}
            {trainer !== undefined ? (
              <>
                <button type="button" className="link" onClick={() => beginWith(trainer)}>
                  Train one
                </button>
                , or <Link to={`${base}/models`}>register one in Models</Link>
              </>
            ) : (
              <Link to={`${base}/models`}>Register one in Models</Link>
            )}
            {isLanguageModel && (
              <>
                {" "}
                or{" "}
                <button
                  type="button"
                  className="link"
                  onClick={() => props.onChange({ hub_id: "" })}
                >
                  use one from the Hugging Face Hub
                </button>
              </>
            )}
            .
          </>
        ) : (
          <>
            No snapshot of {words(wants)} yet.{" "}
            <Link to={`${base}/data/snapshots?freeze=${wants}`}>Freeze one in Data</Link>.
          </>
        )}
      </div>
    </div>
  );
}
