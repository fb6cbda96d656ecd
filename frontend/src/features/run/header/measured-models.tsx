/** Which model an evaluation measures, and against which; by name, where the registry knows it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { modelQuery } from "@/api/models";
import type { Run } from "@/api/types";

/** A registered model of a config; null for one that is given by path or by its id on the hub. */
function idOf(run: Run, section: string): string | null {
  const reference = run.config[section] as { id?: string } | null | undefined;
  return reference?.id ?? null;
}

function ModelLink({ run, id }: { run: Run; id: string }) {
  const model = useQuery(modelQuery(id));
  return (
    <Link className="in-text" to={`/projects/${run.project_id}/models/${id}`}>
      {model.data?.name ?? "a model"}
    </Link>
  );
}

export function MeasuredModels({ run }: { run: Run }) {
  const [model, baseline] = [idOf(run, "model"), idOf(run, "baseline_model")];
  if (run.method !== "evaluate" || model === null) return null;
  return (
    <span className="small">
      measures <ModelLink run={run} id={model} />
      {baseline !== null && (
        <>
          {" "}
          against <ModelLink run={run} id={baseline} />
        </>
      )}
    </span>
  );
}
