/**
 * Guidelines come before comparisons: an annotator reads the newest version, and what is new in it,
 * and says so. What was placed on the comparison at hand is kept meanwhile.
 */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { guidelinesQuery } from "@/api/guidelines";
import type { Guidelines } from "@/api/types";
import { Acknowledge, GuidelinesText, GuidelinesVersion } from "@/components/guidelines";
import { Segmented } from "@/components/segmented";
import { Failure, Skeleton } from "@/components/states";

import { diff, isCut } from "./diff";
import { Pieces } from "./pieces";

export function GuidelinesGate(props: { projectId: string; children: ReactNode }) {
  const { data, error, refetch } = useQuery({
    ...guidelinesQuery(props.projectId),
    refetchOnWindowFocus: "always",
  });
  if (data === undefined)
    return error === null ? (
      <Skeleton lines={6} />
    ) : (
      <div className="page">
        <Failure error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (data.is_acknowledged) return props.children;
  return <ReadFirst projectId={props.projectId} guidelines={data} />;
}

function ReadFirst({ projectId, guidelines }: { projectId: string; guidelines: Guidelines }) {
  const before = guidelines.acknowledged;
  const [view, setView] = useState<"changes" | "all">(before === null ? "all" : "changes");
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>{before === null ? "Read the guidelines first" : "The guidelines have changed"}</h1>
          <p>
            {before === null
              ? "They say what makes one response better than another in this project."
              : "Read what is new before you go on. You keep your current comparison and your ranking so far."}
          </p>
        </div>
      </div>
      <section className="card padded stack">
        {before !== null && (
          <div className="row">
            <Segmented
              label="What to show"
              value={view}
              options={[
                ["changes", `New since version ${before.version}`],
                ["all", "All"],
              ]}
              onChange={setView}
            />
          </div>
        )}
        {before === null || view === "all" ? (
          <GuidelinesText text={guidelines.guidelines} />
        ) : (
          <Changes before={before.guidelines} now={guidelines.guidelines} />
        )}
        <GuidelinesVersion guidelines={guidelines} />
        <div className="row">
          <Acknowledge projectId={projectId} version={guidelines.version} />
        </div>
      </section>
    </div>
  );
}

function Changes({ before, now }: { before: string; now: string }) {
  const [removed, added] = diff(before, now);
  const isGone = removed.some((piece) => piece.isOwn);
  return (
    <>
      <Pieces pieces={added} />
      {isGone && (
        <details>
          <summary className="small muted">The previous version, with removed text marked</summary>
          <Pieces pieces={removed} />
        </details>
      )}
      {(isCut(before) || isCut(now)) && (
        <p className="hint">
          The text is long: changes near its end are not marked. Read all of it.
        </p>
      )}
    </>
  );
}
