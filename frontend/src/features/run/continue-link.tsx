/** To the form for a run that goes on from a checkpoint of this one. */
import type { ReactNode } from "react";
import { Link } from "react-router";

import type { Run } from "@/api/types";

export function ContinueLink(props: {
  run: Pick<Run, "id" | "project_id">;
  step: number;
  /** Where the words alone do not name the step. */
  label?: string;
  children: ReactNode;
}) {
  const { run, step } = props;
  return (
    <Link
      className="btn"
      to={`/projects/${run.project_id}/runs/new?from=${run.id}&step=${step}`}
      aria-label={props.label}
    >
      {props.children}
    </Link>
  );
}
