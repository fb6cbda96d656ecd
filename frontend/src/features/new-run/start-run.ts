/** Sending the run: a new one, or a copy that remembers its parent and may go on from a checkpoint. */
import { post } from "@/api/client";
import { createExperiment } from "@/api/experiments";
import { createRun, validateRun } from "@/api/runs";
import type { ExperimentSummary, JsonObject, Run } from "@/api/types";

import { tagsOf, type Labels } from "./labels";

export interface StartRequest {
  readonly projectId: string;
  readonly name: string;
  readonly config: JsonObject;
  readonly labels: Labels;
  readonly parent: Run | null;
  /** The parent's checkpoint to go on from; null begins anew. */
  readonly step: number | null;
}

interface Known {
  /** The config completed with defaults, as the service last said; null where it said nothing. */
  readonly completed: JsonObject | null;
  readonly experiments: readonly ExperimentSummary[];
}

/** A parent's config is merged with what is sent, so a copy says every value. */
export async function startRun(
  start: StartRequest,
  known: Known,
  idempotencyKey: string,
): Promise<Run> {
  const { projectId, name, config, parent, step } = start;
  const body = {
    project_id: projectId,
    name,
    config,
    ...(await labelFields(start, known, idempotencyKey)),
  };
  const isCopy = parent !== null && parent.project_id === projectId;
  if (parent === null || !isCopy || (step === null && parent.method !== config["method"]))
    return createRun(body, idempotencyKey);
  const overrides = known.completed ?? (await validateRun(body)).config ?? config;
  const { project_id: _project, config: _config, ...labels } = body;
  return post<Run>(
    `/runs/${parent.id}/clone`,
    { ...labels, overrides, from_checkpoint: step },
    { idempotencyKey },
  );
}

async function labelFields(
  { projectId, labels }: StartRequest,
  { experiments }: Known,
  key: string,
) {
  const name = labels.experiment.trim();
  const there = experiments.find((one) => one.name === name);
  const experiment =
    name === ""
      ? null
      : (there ?? (await createExperiment({ project_id: projectId, name }, `${key}-experiment`)));
  return {
    experiment_id: experiment?.id ?? null,
    tags: tagsOf(labels.tags),
    priority: Number(labels.priority) || 0,
  };
}
