/** The form for a new run, made from the schema of its method. */
import "./new-run.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { experimentsQuery } from "@/api/experiments";
import { baseModelsOf, modelsOf, MOST_LISTED, withBases } from "@/api/models";
import { snapshotsQuery } from "@/api/projects";
import { methodsQuery, runQuery, runsQuery } from "@/api/runs";
import { Loaded } from "@/components/states";
import { useAddress } from "@/lib/address/use-address";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";

import { RunEditor, type FormInputs } from "./run-editor";

/** The models to choose from: the newest, and those that runs began with, however old. */
function useModels(projectId: string) {
  const newest = useQuery(modelsOf(projectId));
  // Also while the newest are all there are: with one more the form would wait for these, emptied.
  const bases = useQuery(baseModelsOf(projectId));
  const queries = [newest, bases] as const;
  if (newest.data === undefined || bases.data === undefined) return { queries, models: undefined };
  const isCut = newest.data.next_cursor !== null;
  const all = withBases(newest.data.items, bases.data.items);
  const items = all.filter((one) => one.pruned_at === null);
  return { queries, models: { items, isWhole: !isCut } };
}

/** Everything the form is made of, or the first thing that could not be had. */
function useFormInputs(projectId: string, parentId: string | null, experimentId: string | null) {
  const methods = useQuery(methodsQuery);
  const { queries: ofModels, models } = useModels(projectId);
  const snapshots = useQuery(snapshotsQuery(projectId));
  const runs = useQuery(runsQuery({ project_id: projectId, limit: 100 }));
  const experiments = useQuery(experimentsQuery(projectId));
  const parent = useQuery({ ...runQuery(parentId ?? ""), enabled: parentId !== null });
  const queries = [methods, ...ofModels, snapshots, runs, experiments, parent];
  const failed = queries.filter((query) => query.error !== null);
  const state = {
    error: failed[0]?.error ?? null,
    isFetching: failed.some((query) => query.isFetching),
    refetch: () => failed.forEach((query) => void query.refetch()),
  };
  if (!methods.data || !models || !snapshots.data || !runs.data || !experiments.data)
    return { ...state, data: undefined };
  if (parentId !== null && !parent.data) return { ...state, data: undefined };
  const data: FormInputs & { readonly listsAllModels: boolean } = {
    methods: methods.data.methods,
    models: models.items,
    listsAllModels: models.isWhole,
    snapshots: snapshots.data.items,
    runs: runs.data.items,
    experiments: experiments.data.items,
    experimentId,
    parent: parent.data ?? null,
  };
  return { ...state, data };
}

export function NewRunPage() {
  const projectId = useProjectId();
  const { search } = useAddress();
  // The address follows the form, so only the first one says where the form begins.
  const [parentId] = useState(() => search.get("from"));
  const [experimentId] = useState(() => search.get("experiment"));
  const inputs = useFormInputs(projectId, parentId, experimentId);
  return (
    <div className="page new-run">
      <div className="page-head">
        <div>
          <PageTitle>New run</PageTitle>
          <h1>New run</h1>
          <p>Choose a method, a model and data, then change the settings that you need.</p>
        </div>
      </div>
      <Loaded query={inputs} lines={10}>
        {(data) => (
          <>
            {!data.listsAllModels && (
              <p className="small muted">
                The newest {MOST_LISTED} models and the base models can be chosen. Older models that
                runs trained are not listed.
              </p>
            )}
            <RunEditor key={projectId} projectId={projectId} inputs={data} />
          </>
        )}
      </Loaded>
    </div>
  );
}
