/** Where judgments would be: says what will stand there, and leads to the first comparison. */
import { Link } from "react-router";

import { Empty } from "@/components/states";
import { useMayRank } from "@/components/use-may";

export function NoJudgments({ projectId, children }: { projectId: string; children: string }) {
  const mayRank = useMayRank(projectId);
  return (
    <Empty
      icon="rank"
      title="No judgments yet"
      actions={
        mayRank && (
          <Link className="btn primary" to={`/projects/${projectId}/rank`}>
            Rank the first comparison
          </Link>
        )
      }
    >
      {children}
    </Empty>
  );
}
