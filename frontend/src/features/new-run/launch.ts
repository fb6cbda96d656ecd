/** Sending the run: a new one, or a copy that remembers its parent. */
import { post } from "@/api/client";
import { createRun } from "@/api/runs";
import type { JsonObject, Run } from "@/api/types";

interface Launch {
  readonly projectId: string;
  readonly name: string;
  readonly config: JsonObject;
  /** The config completed with defaults, as the service last said; null where it said nothing. */
  readonly completed: JsonObject | null;
  readonly parent: Run | null;
}

/** A parent's config is merged with what is sent, so a copy says every value. */
export function launched(launch: Launch, idempotencyKey: string): Promise<Run> {
  const { projectId, name, config, completed, parent } = launch;
  const isCopy =
    parent !== null && parent.method === config["method"] && parent.project_id === projectId;
  if (isCopy && completed !== null)
    return post<Run>(
      `/runs/${parent.id}/clone`,
      { name, overrides: completed },
      { idempotencyKey },
    );
  return createRun({ project_id: projectId, name, config, priority: 0 }, idempotencyKey);
}
