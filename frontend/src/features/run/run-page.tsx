/** One run: header and tabs. The curves are live; everything that can be shared is in the address. */
import "./run.css";

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "react-router";

import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { Failure, Loaded } from "@/components/states";
import { Tabs } from "@/components/tabs";

import { Alerts } from "./alerts";
import { CheckpointsTab } from "./checkpoints-tab";
import { CurvesTab } from "./curves/curves-tab";
import { RewardVsKlTab } from "./curves/reward-vs-kl-tab";
import { RunHeader } from "./header/run-header";
import { LogsTab } from "./logs-tab";
import { ConfigTab, EventsTab } from "./parts-tabs";
import { SamplesTab } from "./samples/samples-tab";
import { mayMoveOn } from "./run-status";
import { useLiveRun, type LiveRun } from "./use-live-run";
import { useView } from "./view";

const TABS = [
  ["curves", "Curves"],
  ["frontier", "Reward vs KL"],
  ["samples", "Samples"],
  ["logs", "Logs"],
  ["config", "Config"],
  ["checkpoints", "Checkpoints"],
  ["events", "Events"],
] as const;

/** States after which the first number may still come. */
const WAITING = new Set(["queued", "running", "stopping", "paused"]);

export function RunPage() {
  const { runId = "" } = useParams();
  const run = useQuery({
    ...runQuery(runId),
    // The stream tells every change; this is for the minutes in which there is no stream.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && mayMoveOn(data.state) ? 15_000 : false,
  });
  return (
    <div className="page run-page">
      <Loaded query={run} lines={8}>
        {(found) => <LoadedRun run={found} />}
      </Loaded>
    </div>
  );
}

function LoadedRun({ run }: { run: Run }) {
  const { tab = "curves" } = useParams();
  const { view, search } = useView();
  const isPath = tab === "frontier";
  const live = useLiveRun(run.id, isPath ? "step" : view.axis, isPath ? null : view.zoom);
  const base = `/projects/${run.project_id}/runs/${run.id}`;
  const kept = search.toString();
  return (
    <>
      <RunHeader run={run} status={live.status} />
      <Alerts runId={run.id} fresh={live.alerts} to={base} />
      <Tabs
        label="Parts of the run"
        links={TABS.filter(([name]) => name !== "frontier" || "kl" in run.config).map(
          ([name, label]) => ({
            label,
            to: { pathname: name === "curves" ? base : `${base}/${name}`, search: kept },
          }),
        )}
      />
      {live.error !== null && <Failure error={live.error} onRetry={live.loadAgain} />}
      <Tab run={run} live={live} tab={tab} base={base} />
    </>
  );
}

function Tab(props: { run: Run; live: LiveRun; tab: string; base: string }) {
  const { run, live, base } = props;
  const navigate = useNavigate();
  switch (props.tab) {
    case "frontier":
      return <RewardVsKlTab live={live.live} tick={live.tick} />;
    case "samples":
      return <SamplesTab runId={run.id} />;
    case "logs":
      return <LogsTab run={run} fresh={live.lines} />;
    case "config":
      return <ConfigTab run={run} />;
    case "checkpoints":
      return <CheckpointsTab run={run} />;
    case "events":
      return <EventsTab runId={run.id} />;
    default:
      return (
        <CurvesTab
          live={live.live}
          tick={live.tick}
          isLoaded={live.isLoaded}
          isWaiting={WAITING.has(run.state)}
          onPick={(step) => void navigate(`${base}/samples?step=${step}`)}
        />
      );
  }
}
