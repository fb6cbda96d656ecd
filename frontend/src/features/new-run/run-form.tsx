/** The form of one method: what it needs first, the rest folded, problems and Start beside it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useId, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";

import { createRun } from "@/api/runs";
import type { Json, JsonObject, Method, Model, RunBody, Snapshot } from "@/api/types";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Failure } from "@/components/states";
import { plural } from "@/lib/format";
import { randomId } from "@/lib/random-id";

import { Properties } from "./fields";
import { Form, type FormContext } from "./form-context";
import { shapeOf, withValue, type Path, type Schema } from "./schema";
import { useValidation, type LiveValidation } from "./use-validation";

const FOLDED = new Set(["resources", "log", "lora", "gae", "clip", "optim"]);
const RARE = new Set([
  "seed",
  "precision",
  "checkpoint_every",
  "max_checkpoints",
  "minibatch_size",
  "entropy_coef",
  "loss_average",
  "overlong",
  "epochs_per_rollout",
]);

export interface RunFormProps {
  readonly projectId: string;
  readonly method: Method;
  readonly start: JsonObject;
  readonly startName: string;
  readonly models: readonly Model[];
  readonly snapshots: readonly Snapshot[];
}

export function RunForm(props: RunFormProps) {
  const { projectId, method } = props;
  const [name, setName] = useState(props.startName);
  const [config, setConfig] = useState(props.start);
  const [mode, setMode] = useState<"form" | "json">("form");
  const schema = method.json_schema as Schema;
  const set = useCallback(
    (path: Path, value: Json | undefined) =>
      setConfig((now) => withValue(now, path, value) as JsonObject),
    [],
  );
  const body: RunBody = {
    project_id: projectId,
    name: name.trim() || "unnamed",
    config,
    tags: [],
    priority: 0,
  };
  const validation = useValidation(body);
  const problems = validation.answer?.problems;
  const context = useMemo<FormContext>(
    () => ({
      projectId,
      defs: schema.$defs ?? {},
      references: method.references,
      models: props.models,
      snapshots: props.snapshots,
      problems: problems ?? [],
      set,
    }),
    [projectId, schema, method, props.models, props.snapshots, problems, set],
  );
  const nameId = useId();
  return (
    <Form value={context}>
      <div className="form-grid">
        <div className="form-main">
          <section className="card padded">
            <div className="row">
              <div className="field grow">
                <label htmlFor={nameId}>Name</label>
                <input
                  id={nameId}
                  className="input"
                  required
                  maxLength={200}
                  placeholder={`${method.method}-1`}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              </div>
              <Segmented
                label="How to edit"
                value={mode}
                options={[
                  ["form", "Form"],
                  ["json", "JSON"],
                ]}
                onChange={setMode}
              />
            </div>
          </section>
          {mode === "form" ? (
            <Sections schema={schema} config={config} />
          ) : (
            <JsonEditor config={config} onChange={setConfig} />
          )}
        </div>
        <StartPanel body={{ ...body, name: name.trim() }} validation={validation} />
      </div>
    </Form>
  );
}

function Sections({ schema, config }: { schema: Schema; config: JsonObject }) {
  const kindOf = (name: string) => {
    const property = schema.properties?.[name];
    return property === undefined ? "hidden" : shapeOf(property, schema.$defs ?? {}).kind;
  };
  const isReference = (name: string) => kindOf(name) === "reference";
  const isPlain = (name: string) => !["reference", "group", "terms"].includes(kindOf(name));
  const isGroup = (name: string) => ["group", "terms"].includes(kindOf(name));
  const part = (title: string, only: (name: string) => boolean) => (
    <section className="card padded">
      <h2>{title}</h2>
      <div className="fields">
        <Properties schema={schema} path={[]} value={config} only={only} />
      </div>
    </section>
  );
  const folded = (title: string, only: (name: string) => boolean) => (
    <details className="card padded">
      <summary>
        <h2>{title}</h2>
      </summary>
      <div className="fields">
        <Properties schema={schema} path={[]} value={config} only={only} />
      </div>
    </details>
  );
  return (
    <>
      {part("Model and data", isReference)}
      {part("Settings", (name) => isPlain(name) && !RARE.has(name))}
      {Object.keys(schema.properties ?? {}).some((n) => isGroup(n) && !FOLDED.has(n)) &&
        part("Sampling and reward", (name) => isGroup(name) && !FOLDED.has(name))}
      {folded("Optimizer and adapters", (name) => ["optim", "lora", "clip", "gae"].includes(name))}
      {folded("Seed, precision, checkpoints, log, resources", (name) =>
        isPlain(name) ? RARE.has(name) : ["log", "resources"].includes(name),
      )}
    </>
  );
}

function JsonEditor(props: { config: JsonObject; onChange: (config: JsonObject) => void }) {
  const [text, setText] = useState(() => JSON.stringify(props.config, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed))
        throw new Error("a config is an object");
      setProblem(null);
      props.onChange(parsed as JsonObject);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "not JSON");
    }
  };
  return (
    <section className="card padded field">
      <label htmlFor="config-json">Config as JSON</label>
      <textarea
        id="config-json"
        className="input mono json"
        spellCheck={false}
        aria-invalid={problem !== null}
        value={text}
        onChange={(event) => change(event.target.value)}
      />
      {problem !== null && <span className="wrong">{problem}</span>}
    </section>
  );
}

function StartPanel({ body, validation }: { body: RunBody; validation: LiveValidation }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  // The same click twice makes one run; a changed form makes another.
  const key = useRef({ body: "", id: "" });
  const start = useMutation({
    mutationFn: () => {
      const text = JSON.stringify(body);
      if (key.current.body !== text) key.current = { body: text, id: randomId() };
      return createRun(body, key.current.id);
    },
    onSuccess: (run) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/projects/${run.project_id}/runs/${run.id}`);
    },
  });
  const { answer, error, isAsking } = validation;
  const errors = answer?.problems.filter((problem) => problem.level === "error") ?? [];
  const canStart = answer?.valid === true && !isAsking && body.name !== "" && !start.isPending;
  return (
    <aside className="card padded start">
      <h2>Ready?</h2>
      <div aria-live="polite" className="checks">
        {answer?.valid === true && (
          <p className="good-text">
            <Icon name="check" /> The config is valid.
          </p>
        )}
        {body.name === "" && <p className="small muted">Give the run a name.</p>}
        {errors.length > 0 && (
          <p className="small muted">{plural(errors.length, "thing")} to settle:</p>
        )}
        <ul className="problems">
          {answer?.problems.map((problem) => (
            <li key={`${problem.path}-${problem.message}`} className={problem.level}>
              <span className="mono">{problem.path || "config"}</span> {problem.message}{" "}
              {problem.advice}
            </li>
          ))}
        </ul>
        {error !== null && <Failure error={error} />}
        {start.error !== null && <Failure error={start.error} />}
      </div>
      <button
        type="button"
        className="btn primary wide-btn"
        disabled={!canStart}
        onClick={() => start.mutate()}
      >
        <Icon name="play" /> Start the run
      </button>
      <p className="small faint">It is queued, and begins as soon as a worker has room for it.</p>
    </aside>
  );
}
