/** What the run executes and where its settings begin. */
import { useId } from "react";

import type { Method, Run } from "@/api/types";
import { words } from "@/lib/format";

import type { Start } from "./use-draft";

export function StartChoice(props: {
  start: Start;
  method: string;
  methods: readonly Method[];
  runs: readonly Run[];
  onBegin: (start: Start) => void;
}) {
  const { start, methods } = props;
  const name = useId();
  return (
    <>
      <fieldset className="methods">
        <legend className="sr-only">Method</legend>
        {methods.map((method) => (
          <label key={method.method} className="card method">
            <input
              type="radio"
              name={name}
              checked={props.method === method.method}
              disabled={!method.is_available}
              onChange={() => props.onBegin({ method, preset: usual(method), parent: null })}
            />
            <span>
              <b>{method.title}</b>
              <span className="hint">
                {method.is_available ? method.description : "Not available in this version."}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <Beginnings start={start} runs={props.runs} onBegin={props.onBegin} />
    </>
  );
}

/** The preset a method begins with: its first, the one that fits a small machine. */
export const usual = (method: Method) => method.presets[0]?.name ?? null;

function Beginnings(props: {
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
    <div className="beginnings">
      <div className="row">
        <span className="small muted">Start from</span>
        <div className="seg" role="group" aria-label="Start from">
          {method.presets.map((one) => (
            <button
              type="button"
              key={one.name}
              aria-pressed={parent === null && one.name === preset}
              title={one.description}
              onClick={() => props.onBegin({ method, preset: one.name, parent: null })}
            >
              {one.name}
            </button>
          ))}
          <button
            type="button"
            aria-pressed={parent === null && preset === null}
            onClick={() => props.onBegin({ method, preset: null, parent: null })}
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
            const fresh = { method, preset: usual(method), parent: null };
            props.onBegin(run === undefined ? fresh : { method, preset: null, parent: run });
          }}
        >
          <option value="">
            {past.length === 0 ? `no past ${words(method.method)} run` : "or a past run…"}
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
          ? `A copy of ${parent.name}; the new run remembers it as its parent.`
          : (chosen?.description ?? "Every value is the default of the method.")}
      </p>
    </div>
  );
}
