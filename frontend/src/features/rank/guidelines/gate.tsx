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
import { NoAnswer, Skeleton } from "@/components/states";

import { hasBegun } from "../leases/assignment-queue";
import { Changes } from "./changes";

const SAVED = " Your ranking so far is saved in this browser.";

interface Gate {
  readonly projectId: string;
  readonly userId: string;
}

export function GuidelinesGate(props: Gate & { children: ReactNode }) {
  const query = useQuery({
    ...guidelinesQuery(props.projectId),
    refetchOnWindowFocus: "always",
  });
  const { data } = query;
  if (data === undefined)
    return query.error === null ? (
      <Skeleton lines={6} />
    ) : (
      <div className="page">
        <NoAnswer query={query} />
      </div>
    );
  if (data.is_acknowledged) return props.children;
  return <ReadFirst projectId={props.projectId} userId={props.userId} guidelines={data} />;
}

function ReadFirst({ projectId, userId, guidelines }: Gate & { guidelines: Guidelines }) {
  const before = guidelines.acknowledged;
  const [isSaved] = useState(() => hasBegun(projectId, userId));
  const [view, setView] = useState<"changes" | "all">(before === null ? "all" : "changes");
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>{before === null ? "Read the guidelines first" : "The guidelines have changed"}</h1>
          <p>
            {before === null
              ? "They say what makes one response better than another in this project."
              : `Read what has changed before you go on.${isSaved ? SAVED : ""}`}
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
                ["changes", `Changes since version ${before.version}`],
                ["all", "All"],
              ]}
              onChange={setView}
            />
          </div>
        )}
        {before === null || view === "all" ? (
          <GuidelinesText text={guidelines.guidelines} />
        ) : (
          <>
            <p className="changes-legend hint">
              Version {guidelines.version}, compared with version {before.version}, which you
              acknowledged: <ins>new text</ins>, <del>removed text</del>.
            </p>
            <Changes before={before.guidelines} now={guidelines.guidelines} />
          </>
        )}
        <GuidelinesVersion guidelines={guidelines} />
        <div className="row">
          <Acknowledge projectId={projectId} version={guidelines.version} />
        </div>
      </section>
    </div>
  );
}
