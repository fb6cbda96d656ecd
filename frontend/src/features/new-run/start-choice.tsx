/** What the run executes and where its settings begin. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";

import { checkpointsQuery } from "@/api/runs";
import type { Method, Preset, Run } from "@/api/types";
import { NoAnswer } from "@/components/states";

import { fieldId } from "./fields/form-context";
import type { Start } from "./use-draft";

export function StartChoice(props: {
  start: Start;
  method: string;
  methods: readonly Method[];
  runs: readonly Run[];
  onBegin: (start: Start) => void;
  onStep: (step: number | null) => void;
}) {
  const { start, methods } = props;
  const name = useId();
  return (
    <>
      <fieldset className="methods" id={fieldId("method")} tabIndex={-1}>
        <legend className="sr-only">Method</legend>
        {methods.map((method) => (
          <label key={method.method} className="card method">
            <input
              type="radio"
              name={name}
              checked={props.method === method.method}
              onChange={() =>
                props.onBegin({ method, preset: defaultPreset(method), ...FROM_SCRATCH })
              }
            />
            <span>
              <b>{method.title}</b>
              <span className="hint">{method.description}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <StartOptions start={start} runs={props.runs} onBegin={props.onBegin} />
      {start.parent !== null && (
        <CheckpointChoice parent={start.parent} step={start.step} onStep={props.onStep} />
      )}
    </>
  );
}

const FROM_SCRATCH = { parent: null, step: null };

/** The preset a method begins with: its first, the one that fits a small machine. */
export const defaultPreset = (method: Method) => method.presets[0]?.name ?? null;

function StartOptions(props: {
  start: Start;
  runs: readonly Run[];
  onBegin: (start: Start) => void;
}) {
  const { method, preset, parent } = props.start;
  const id = useId();
  const past = props.runs.filter((run) => run.method === method.method);
  const isListed = parent === null || past.some((run) => run.id === parent.id);
  const chosen = method.presets.find((one) => one.name === preset);
  return (
    <div className="start-options">
      <div className="row">
        <span className="small muted">Start from</span>
        <div className="seg" role="group" aria-label="Start from">
          {method.presets.map((one) => (
            <button
              type="button"
              key={one.name}
              aria-pressed={parent === null && one.name === preset}
              title={one.description}
              onClick={() => props.onBegin({ method, preset: one.name, ...FROM_SCRATCH })}
            >
              {one.name}
            </button>
          ))}
          <button
            type="button"
            aria-pressed={parent === null && preset === null}
            onClick={() => props.onBegin({ method, preset: null, ...FROM_SCRATCH })}
          >
            Defaults
          </button>
        </div>
        <label className="sr-only" htmlFor={id}>
          Start from a past run
        </label>
        <select
          id={id}
          className="input past"
          value={parent?.id ?? ""}
          disabled={past.length === 0 && parent === null}
          onChange={(event) => {
            const run = past.find((one) => one.id === event.target.value);
            const fresh = { method, preset: defaultPreset(method), ...FROM_SCRATCH };
            props.onBegin(
              run === undefined ? fresh : { method, preset: null, parent: run, step: null },
            );
          }}
        >
          <option value="">
            {past.length === 0 ? "no past run of this method" : "or a past run…"}
          </option>
          {!isListed && <option value={parent.id}>{parent.name}</option>}
          {past.map((run) => (
            <option key={run.id} value={run.id}>
              {run.name}, {run.state}
            </option>
          ))}
        </select>
      </div>
      <p className="hint">
        {parent !== null
          ? `A clone of ${parent.name}, which becomes the parent of the new run.`
          : (chosen?.description ?? "All settings start at the defaults of the method.")}
      </p>
      {parent === null && chosen !== undefined && <Sources preset={chosen} />}
    </div>
  );
}

/** Who gives which setting of a preset: the paper, its script, or Podium. */
function Sources({ preset }: { preset: Preset }) {
  return (
    <details className="sources small">
      <summary>Where its settings come from</summary>
      <dl>
        {preset.sources.map(({ source, settings }) => (
          <div key={source}>
            <dt>{source}</dt>
            {Object.entries(settings).map(([path, value]) => (
              <dd key={path} className="mono">
                {path} {told(value)}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </details>
  );
}

const told = (value: unknown) => (value === null ? "default" : JSON.stringify(value));

/** Whether the copy begins anew or where its parent stood; nothing to choose without checkpoints. */
function CheckpointChoice(props: {
  parent: Run;
  step: number | null;
  onStep: (step: number | null) => void;
}) {
  const { parent, step } = props;
  const id = useId();
  const query = useQuery(checkpointsQuery(parent.id));
  const steps = (query.data ?? []).map((one) => one.step);
  // A step of the address is shown even where it is gone; the service says so on Start.
  const shown = step === null || steps.includes(step) ? steps : [...steps, step];
  if (query.error !== null) return <NoAnswer query={query} />;
  if (shown.length === 0) return null;
  return (
    <div className="start-options">
      <div className="row">
        <label className="small muted" htmlFor={id}>
          Checkpoint
        </label>
        <select
          id={id}
          className="input past"
          value={step ?? ""}
          onChange={(event) =>
            props.onStep(event.target.value === "" ? null : Number(event.target.value))
          }
        >
          <option value="">none: start at step 1</option>
          {shown.map((one) => (
            <option key={one} value={one}>
              step {one}
            </option>
          ))}
        </select>
      </div>
      {step !== null && (
        <p className="hint">
          The new run continues after step {step} with the weights, optimizer state and random
          numbers of this checkpoint, and keeps counting steps. Method, model, LoRA shape and batch
          size must stay the same. The number of steps can change only with a constant schedule and
          no warm-up.
        </p>
      )}
    </div>
  );
}
