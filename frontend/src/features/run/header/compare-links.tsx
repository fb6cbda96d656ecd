/** The comparisons that a run is likely to be part of: with its parent, with its experiment. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { experimentQuery } from "@/api/experiments";
import type { Run } from "@/api/types";

export function CompareLinks({ run }: { run: Run }) {
  const { id, parent_id: parent, experiment_id: experimentId } = run;
  const experiment = useQuery({
    ...experimentQuery(experimentId ?? ""),
    enabled: experimentId !== null,
  });
  const others = (experiment.data?.run_ids ?? []).filter((one) => one !== id);
  // All of them, also if they are more than can be compared: the comparison says which it shows.
  const to = (ids: readonly string[]) =>
    `/projects/${run.project_id}/compare?runs=${ids.join(",")}`;
  return (
    <>
      {parent !== null && (
        <Link className="small" to={to([parent, id])}>
          Compare with its parent
        </Link>
      )}
      {others.length > 0 && (
        <Link className="small" to={to([id, ...others])}>
          Compare with its experiment
        </Link>
      )}
    </>
  );
}
