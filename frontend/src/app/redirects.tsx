/** Short addresses (`/`, `/runs/ID`, `/models/ID`) lead into the project they belong to, old ones to new. */
import { useQuery } from "@tanstack/react-query";
import { useLocation, useParams } from "react-router";

import { Problem } from "@/api/client";
import { modelQuery } from "@/api/models";
import { projectsQuery } from "@/api/projects";
import { runQuery } from "@/api/runs";
import { Redirect } from "@/components/redirect/redirect";
import { Loaded } from "@/components/states";
import { isText, read } from "@/lib/storage";

import { NotFound } from "./crash";
import { FirstProject } from "./first-project";

export const LAST_PROJECT = "podium.project";

/** What somebody may not see is not there for them. */
const isHidden = (error: Error | null) =>
  error instanceof Problem && (error.status === 403 || error.status === 404);

export function ProjectRedirect() {
  const projects = useQuery(projectsQuery);
  return (
    <Loaded query={projects}>
      {({ items }) => {
        const last = read(localStorage, LAST_PROJECT, isText);
        const project = items.find(({ id }) => id === last) ?? items[0];
        if (project === undefined) return <FirstProject />;
        return <Redirect to={`/projects/${project.id}`} />;
      }}
    </Loaded>
  );
}

export function RunRedirect() {
  const { runId = "" } = useParams();
  const run = useQuery(runQuery(runId));
  if (isHidden(run.error)) return <NotFound />;
  return (
    <Loaded query={run}>
      {(found) => <Redirect to={`/projects/${found.project_id}/runs/${found.id}`} />}
    </Loaded>
  );
}

/** The tab of a run that was called "frontier". */
export function RewardVsKlRedirect() {
  const { projectId = "", runId = "" } = useParams();
  const { search, hash } = useLocation();
  return <Redirect to={`/projects/${projectId}/runs/${runId}/reward-vs-kl${search}${hash}`} />;
}

export function ModelRedirect() {
  const { modelId = "" } = useParams();
  const model = useQuery(modelQuery(modelId));
  const projects = useQuery(projectsQuery);
  if (isHidden(model.error)) return <NotFound />;
  return (
    <Loaded query={model}>
      {({ id, project_id: own }) =>
        own === null ? (
          <Loaded query={projects}>
            {({ items }) => <SharedModel id={id} within={items[0]?.id} />}
          </Loaded>
        ) : (
          <Redirect to={`/projects/${own}/models/${id}`} />
        )
      }
    </Loaded>
  );
}

/** A model that belongs to no project is shown within one. */
function SharedModel({ id, within }: { id: string; within: string | undefined }) {
  if (within === undefined) return <FirstProject />;
  return <Redirect to={`/projects/${within}/models/${id}`} />;
}
