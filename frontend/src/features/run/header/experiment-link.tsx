/** The experiment that a run belongs to, by its name. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { experimentQuery } from "@/api/experiments";
import type { Run } from "@/api/types";

export function ExperimentLink({ run }: { run: Run }) {
  const id = run.experiment_id;
  const experiment = useQuery({ ...experimentQuery(id ?? ""), enabled: id !== null });
  if (id === null) return null;
  return (
    <Link className="small" to={`/projects/${run.project_id}/experiments/${id}`}>
      {experiment.data === undefined ? "experiment" : `experiment: ${experiment.data.name}`}
    </Link>
  );
}
