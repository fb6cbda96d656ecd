/** A run from a preset, from a past run or from nothing; the form is made from the API's schema. */
import "./new-run.css";

import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import { modelsQuery } from "@/api/models";
import { snapshotsQuery } from "@/api/projects";
import { methodsQuery, runQuery } from "@/api/runs";
import type { Json, JsonObject, Method, Preset } from "@/api/types";
import { Loaded } from "@/components/states";
import { useProjectId } from "@/components/use-project";

import { RunForm } from "./run-form";
import { pathOf, withValue } from "./schema";

function MethodChooser(props: {
  methods: readonly Method[];
  chosen: string;
  onChoose: (method: string) => void;
}) {
  return (
    <div className="methods" role="radiogroup" aria-label="Method">
      {props.methods.map((method) => (
        <button
          type="button"
          role="radio"
          aria-checked={method.method === props.chosen}
          key={method.method}
          className="card"
          disabled={!method.is_available}
          onClick={() => props.onChoose(method.method)}
        >
          <b>{method.title}</b>
          <span className="small muted">
            {method.is_available ? method.description : "Not available yet."}
          </span>
        </button>
      ))}
    </div>
  );
}

const ORDER = ["generate", "sft", "reward_model", "policy_gradient", "dpo", "evaluate"];

/** References that the address names, e.g. `model=model_x` or `reward.terms.0.model=model_y`. */
function withReferences(config: JsonObject, search: URLSearchParams, method: Method): JsonObject {
  let result: Json = config;
  for (const [name, id] of search) {
    const pattern = pathOf(name)
      .map((key) => (typeof key === "number" ? "*" : key))
      .join(".");
    if (!(pattern in method.references)) continue;
    const path = pathOf(name);
    if (pattern.includes("*")) result = withValue(result, [...path.slice(0, -1), "kind"], "model");
    result = withValue(result, path, { id });
  }
  return result as JsonObject;
}

const POSITION = new Map(ORDER.map((name, place) => [name, place]));

function sorted(methods: readonly Method[]): Method[] {
  const place = (method: Method) => POSITION.get(method.method) ?? ORDER.length;
  return [...methods].sort((a, b) => place(a) - place(b));
}

/** A copy of a past run, with its config as it was. */
function CopyOf({ runId, methods }: { runId: string; methods: readonly Method[] }) {
  const query = useQuery(runQuery(runId));
  return (
    <Loaded query={query} lines={10}>
      {(run) => {
        const method = methods.find((one) => one.method === run.method);
        if (method === undefined) return null;
        const start = run.config as JsonObject;
        return <Filled key={runId} method={method} start={start} startName={`${run.name}-2`} />;
      }}
    </Loaded>
  );
}

function Filled(props: { method: Method; start: JsonObject; startName: string }) {
  const projectId = useProjectId();
  const models = useQuery(modelsQuery);
  const snapshots = useQuery(snapshotsQuery(projectId));
  return (
    <RunForm
      {...props}
      projectId={projectId}
      models={models.data?.items ?? []}
      snapshots={snapshots.data?.items ?? []}
    />
  );
}

function Presets(props: {
  presets: readonly Preset[];
  chosen: Preset | null;
  onChoose: (name: string) => void;
}) {
  return (
    <div className="row presets" role="group" aria-label="Preset">
      <span className="small muted">Start from</span>
      {props.presets.map((preset) => (
        <button
          type="button"
          key={preset.name}
          className="btn"
          title={preset.description}
          aria-pressed={preset === props.chosen}
          onClick={() => props.onChoose(preset.name)}
        >
          {preset.name}
        </button>
      ))}
      <button
        type="button"
        className="btn"
        aria-pressed={props.chosen === null}
        onClick={() => props.onChoose(NO_PRESET)}
      >
        defaults
      </button>
      {props.chosen !== null && <span className="small faint">{props.chosen.description}</span>}
    </div>
  );
}

const NO_PRESET = "none";

function FromPreset({ methods }: { methods: readonly Method[] }) {
  const [search, setSearch] = useSearchParams();
  const method =
    methods.find((one) => one.method === search.get("method")) ??
    methods.find((one) => one.is_available);
  if (method === undefined) return null;
  const name = search.get("preset");
  const chosen = method.presets.find((one) => one.name === name);
  const preset = name === NO_PRESET ? null : (chosen ?? method.presets[0] ?? null);
  const base = { ...(preset?.config ?? {}), method: method.method } as JsonObject;
  const choose = (changes: Record<string, string>) =>
    setSearch((now) => new URLSearchParams({ ...Object.fromEntries(now), ...changes }), {
      replace: true,
    });
  return (
    <>
      <MethodChooser
        methods={methods}
        chosen={method.method}
        onChoose={(next) => setSearch({ method: next }, { replace: true })}
      />
      <Presets
        presets={method.presets}
        chosen={preset}
        onChoose={(next) => choose({ method: method.method, preset: next })}
      />
      <Filled
        key={`${method.method} ${preset?.name ?? NO_PRESET}`}
        method={method}
        start={withReferences(base, search, method)}
        startName=""
      />
    </>
  );
}

export function NewRunPage() {
  const query = useQuery(methodsQuery);
  const [search] = useSearchParams();
  const from = search.get("from");
  return (
    <div className="page new-run">
      <div className="page-head">
        <div>
          <h1>{from === null ? "New run" : "New run, copied"}</h1>
          <p>
            Every field says its range and default; what is wrong is said while you type, by the
            same check that Start makes.
          </p>
        </div>
      </div>
      <Loaded query={query} lines={10}>
        {({ methods }) =>
          from === null ? (
            <FromPreset methods={sorted(methods)} />
          ) : (
            <CopyOf runId={from} methods={methods} />
          )
        }
      </Loaded>
    </div>
  );
}
