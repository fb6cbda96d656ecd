/** The form for a new run, made from the schema of its method. */
import "./new-run.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

import { experimentsQuery } from "@/api/experiments";
import { modelsQuery } from "@/api/models";
import { snapshotsQuery } from "@/api/projects";
import { methodsQuery, runQuery, runsQuery } from "@/api/runs";
import { Loaded } from "@/components/states";
import { useProjectId } from "@/lib/use-project";

import { Desk, type Materials } from "./desk";

/** Everything the form is made of, or the first thing that could not be had. */
function useMaterials(projectId: string, parentId: string | null) {
  const methods = useQuery(methodsQuery);
  const models = useQuery(modelsQuery);
  const snapshots = useQuery(snapshotsQuery(projectId));
  const runs = useQuery(runsQuery({ project_id: projectId, limit: 100 }));
  const experiments = useQuery(experimentsQuery(projectId));
  const parent = useQuery({ ...runQuery(parentId ?? ""), enabled: parentId !== null });
  const queries = [methods, models, snapshots, runs, experiments, parent];
  const answer = {
    error: queries.find((query) => query.error !== null)?.error ?? null,
    refetch: () => queries.forEach((query) => query.error !== null && void query.refetch()),
  };
  if (!methods.data || !models.data || !snapshots.data || !runs.data || !experiments.data)
    return { ...answer, data: undefined };
  if (parentId !== null && !parent.data) return { ...answer, data: undefined };
  const data: Materials = {
    methods: methods.data.methods,
    models: models.data.items.filter(
      (one) => one.pruned_at === null && (!one.project_id || one.project_id === projectId),
    ),
    snapshots: snapshots.data.items,
    runs: runs.data.items,
    experiments: experiments.data.items,
    parent: parent.data ?? null,
  };
  return { ...answer, data };
}

export function NewRunPage() {
  const projectId = useProjectId();
  const [search] = useSearchParams();
  // The address follows the form, so only the first one says where the form begins.
  const [parentId] = useState(() => search.get("from"));
  const materials = useMaterials(projectId, parentId);
  return (
    <div className="page new-run">
      <div className="page-head">
        <div>
          <h1>New run</h1>
          <p>Choose a method, a model and data, then change the settings that you need.</p>
        </div>
      </div>
      <Loaded query={materials} lines={10}>
        {(data) => <Desk key={projectId} projectId={projectId} materials={data} />}
      </Loaded>
    </div>
  );
}
