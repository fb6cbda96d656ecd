/** What a project holds, how it gets in, and how it is frozen for runs. */
import "./data.css";

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";

import { projectQuery } from "@/api/projects";
import { Icon } from "@/components/icons";
import { Redirect } from "@/components/redirect/redirect";
import { Tabs } from "@/components/tabs/tabs";
import { useMayChange } from "@/components/use-may";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";

import { AgreementTab } from "./agreement/agreement-tab";
import { ImportTab } from "./import-tab";
import { PromptList } from "./prompt-list";
import { ComparisonList, DemonstrationList, JudgmentList } from "./record-lists";
import { ResponseList } from "./response-list";
import { ReviewList } from "./review-list";
import { SnapshotsTab } from "./snapshots-tab";
import { SolutionList } from "./solution-list";

const TABS = [
  ["prompts", "Prompts", "prompts"],
  ["demonstrations", "Demonstrations", "demonstrations"],
  ["solutions", "Solutions", "solutions"],
  ["responses", "Responses", "responses"],
  ["comparisons", "Comparisons", "comparisons"],
  ["judgments", "Judgments", "judgments"],
  ["agreement", "Agreement", null],
  ["snapshots", "Snapshots", null],
  ["import", "Import", null],
] as const;

function Tab({ tab, projectId }: { tab: string; projectId: string }) {
  switch (tab) {
    case "demonstrations":
      return <DemonstrationList projectId={projectId} />;
    case "solutions":
      return <SolutionList projectId={projectId} />;
    case "responses":
      return <ResponseList projectId={projectId} />;
    case "comparisons":
      return <ComparisonList projectId={projectId} />;
    case "judgments":
      return <JudgmentList projectId={projectId} />;
    case "agreement":
      return <AgreementTab projectId={projectId} />;
    case "snapshots":
      return <SnapshotsTab projectId={projectId} />;
    case "import":
      return <ImportTab projectId={projectId} />;
    default:
      return <PromptList projectId={projectId} />;
  }
}

export function DataPage() {
  const projectId = useProjectId();
  const { tab = "prompts" } = useParams();
  const counts = useQuery(projectQuery(projectId)).data?.counts;
  const mayChange = useMayChange(projectId);
  const base = `/projects/${projectId}/data`;
  const tabs = TABS.filter(([path]) => mayChange || path !== "import");
  if (!tabs.some(([path]) => path === tab)) return <Redirect to={base} />;
  return (
    <div className="page data-page">
      <div className="page-head">
        <div>
          <PageTitle>Data</PageTitle>
          <h1>Data</h1>
          <p>
            Records come from imports, generate runs and ranking. Runs read frozen snapshots of
            them.
          </p>
        </div>
        <span className="grow" />
        {mayChange && (
          <>
            <Link className="btn" to={`${base}/import`}>
              <Icon name="plus" /> Import
            </Link>
            <Link className="btn primary" to={`${base}/snapshots?freeze=preferences`}>
              <Icon name="lock" /> Freeze a snapshot
            </Link>
          </>
        )}
      </div>
      <Tabs
        label="Parts of the data"
        links={tabs.map(([path, label, count]) => ({
          label,
          to: path === "prompts" ? base : `${base}/${path}`,
          count: count === null ? undefined : counts?.[count].toLocaleString("en-US"),
        }))}
      />
      <Tab tab={tab} projectId={projectId} />
      {tab === "judgments" && counts != null && counts.reviews > 0 && (
        <ReviewList projectId={projectId} count={counts.reviews} />
      )}
    </div>
  );
}
