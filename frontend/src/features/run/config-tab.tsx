/** The config of a run and the environment that it ran in. */
import type { JsonObject, Run } from "@/api/types";
import { Copyable } from "@/components/text/copyable";

import { Tree } from "./tree";

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
        <Tree value={run.config as JsonObject} project={run.project_id} />
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
