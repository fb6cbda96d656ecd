/** The config of a run and the environment that it ran in. */
import type { JsonObject, Run } from "@/api/types";
import { Copyable } from "@/components/text/copyable";

import { Tree } from "./tree";

// What the run is, before how it computes.
const FIRST = [
  "method",
  "estimator",
  "model",
  "reference",
  "baseline_model",
  "prompts",
  "demonstrations",
  "preferences",
  "solutions",
  "split",
  "reward",
  "kl",
  "steps",
  "optim",
];

/** The sections that tell runs apart come first; the others stay as they are. */
function inOrder(config: JsonObject): JsonObject {
  const first = FIRST.filter((name) => name in config);
  const rest = Object.keys(config).filter((name) => !FIRST.includes(name));
  return Object.fromEntries([...first, ...rest].map((name) => [name, config[name] ?? null]));
}

export function ConfigTab({ run }: { run: Run }) {
  return (
    <div className="two">
      <section className="card padded">
        <header className="row">
          <h2>Config</h2>
          <span className="grow" />
          <Copyable
            text={JSON.stringify(run.config, null, 2)}
            shown="copy as JSON"
            label="config"
          />
        </header>
        <Tree value={inOrder(run.config as JsonObject)} project={run.project_id} />
      </section>
      <section className="card padded">
        <h2>Environment</h2>
        {Object.keys(run.environment).length === 0 ? (
          <p className="muted">The trainer reports its environment when it starts.</p>
        ) : (
          <Tree value={run.environment as JsonObject} project={run.project_id} />
        )}
      </section>
    </div>
  );
}
