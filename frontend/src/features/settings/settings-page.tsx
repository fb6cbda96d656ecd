/** What a project is, who belongs to it, and the keys of whoever looks. */
import "./settings.css";

import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";

import { meQuery } from "@/api/session";
import type { User } from "@/api/types";
import { Redirect } from "@/components/redirect/redirect";
import { Loaded } from "@/components/states";
import { Tabs } from "@/components/tabs/tabs";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";

import { KeysTab } from "./keys/keys-tab";
import { MembersTab } from "./members/members-tab";
import { PracticeTab } from "./practice/practice-tab";
import { ProjectTab } from "./project/project-tab";

const TABS = [
  ["project", "Project"],
  ["practice", "Practice"],
  ["members", "Members"],
  ["keys", "Keys"],
] as const;

function Tab(props: { tab: string; projectId: string; user: User }) {
  switch (props.tab) {
    case "practice":
      return <PracticeTab projectId={props.projectId} />;
    case "members":
      return <MembersTab projectId={props.projectId} user={props.user} />;
    case "keys":
      return <KeysTab user={props.user} />;
    default:
      return <ProjectTab projectId={props.projectId} key={props.projectId} />;
  }
}

export function SettingsPage() {
  const projectId = useProjectId();
  const { tab = "project" } = useParams();
  const me = useQuery(meQuery);
  if (!TABS.some(([path]) => path === tab))
    return <Redirect to={`/projects/${projectId}/settings`} />;
  return (
    <div className="page">
      <div className="page-head">
        <PageTitle>Settings</PageTitle>
        <h1>Settings</h1>
      </div>
      <Tabs
        label="Parts of the settings"
        links={TABS.map(([path, label]) => ({
          label,
          to: `/projects/${projectId}/settings${path === "project" ? "" : `/${path}`}`,
        }))}
      />
      <Loaded query={me}>{(user) => <Tab tab={tab} projectId={projectId} user={user} />}</Loaded>
    </div>
  );
}
