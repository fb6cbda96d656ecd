/** One run: header and tabs. The curves are live; everything that can be shared is in the address. */
import "./run.css";

import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";

import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { Notes } from "@/components/run-edit/notes";
import { useMayChange } from "@/components/use-may";
import { Failure, Loaded } from "@/components/states";
import { Tabs } from "@/components/tabs/tabs";
import type { SampleKind } from "@/lib/address/samples";
import { useGo } from "@/lib/address/use-go";

import { Alerts } from "./alerts";
import { AnswersTab } from "./answers/answers-tab";
import { CheckpointsTab } from "./checkpoints-tab";
import { ConfigTab } from "./config-tab";
import { CurvesTab } from "./curves/curves-tab";
import { RewardVsKlTab } from "./curves/reward-vs-kl-tab";
import { RunHeader } from "./header/run-header";
import { EventsTab } from "./history/events-tab";
import { LogsTab } from "./log/logs-tab";
import { PromptsTab } from "./prompts/prompts-tab";
import { samplesAddress } from "./samples/samples-address";
import { SamplesTab } from "./samples/samples-tab";
import { isSampler, mayMoveOn } from "./run-status";
import { SetsCard, useShownMetrics } from "./sets/sets-card";
import { useLiveCurves, type DrawnCurves } from "./live/use-live-curves";
import { useLiveRun, type LiveRun } from "./live/use-live-run";
import { VerdictCard, VerdictDetails } from "./verdict/verdict-card";
import { useView } from "./view";

const TABS = [
  ["curves", "Curves"],
  ["reward-vs-kl", "Reward vs KL"],
  ["prompts", "Prompts"],
  ["samples", "Samples"],
  ["answers", "Answers"],
  ["logs", "Logs"],
  ["config", "Config"],
  ["checkpoints", "Checkpoints"],
  ["events", "Events"],
] as const;

/** Tabs of runs that optimize a policy. */
const OF_POLICIES: ReadonlySet<string> = new Set(["reward-vs-kl", "prompts"]);

const isTabOf = (run: Run, tab: string): boolean =>
  tab === "answers" ? isSampler(run) : !OF_POLICIES.has(tab) || "kl" in run.config;

/** States after which the first number may still come. */
const WAITING = new Set(["queued", "running", "stopping", "paused"]);

/** Keyed by run: what was begun on one, such as notes or an answer on its way, is not another's. */
export function RunPage() {
  const { runId = "" } = useParams();
  const run = useQuery({
    ...runQuery(runId),
    // The stream tells every change; this is for the minutes in which there is no stream, and for
    // a run that is over, which has none until somebody retries it.
    refetchInterval: ({ state: { data } }) =>
      data === undefined ? false : mayMoveOn(data.state) ? 15_000 : 60_000,
  });
  return (
    <div className="page run-page">
      <Loaded query={run} lines={8}>
        {(found) => <LoadedRun key={found.id} run={found} />}
      </Loaded>
    </div>
  );
}

function LoadedRun({ run }: { run: Run }) {
  const { tab = "curves" } = useParams();
  const { view, search } = useView();
  const mayChange = useMayChange(run.project_id);
  const isPath = tab === "reward-vs-kl";
  const isLive = mayMoveOn(run.state);
  const live = useLiveRun(run.id, isLive);
  const curves = useLiveCurves(
    run.id,
    isLive,
    isPath ? "step" : view.axis,
    isPath ? null : view.zoom,
  );
  const base = `/projects/${run.project_id}/runs/${run.id}`;
  const kept = search.toString();
  return (
    <>
      <RunHeader run={run} status={live.status} />
      <VerdictCard run={run} base={base} hasReason={tab === "curves"} />
      <Notes run={run} mayChange={mayChange} />
      <Alerts run={run} fresh={live.alerts} base={base} />
      <Tabs
        label="Parts of the run"
        links={TABS.filter(([name]) => isTabOf(run, name)).map(([name, label]) => ({
          label: name === "curves" && run.method === "evaluate" ? "Results" : label,
          to: { pathname: name === "curves" ? base : `${base}/${name}`, search: kept },
        }))}
      />
      {curves.error !== null && (
        <Failure error={curves.error} isAsking={curves.isAsking} onRetry={curves.loadAgain} />
      )}
      <Tab run={run} live={live} curves={curves} tab={tab} base={base} />
    </>
  );
}

interface TabProps {
  run: Run;
  live: LiveRun;
  curves: DrawnCurves;
  tab: string;
  base: string;
}

function Tab(props: TabProps) {
  const { run, live, curves, base } = props;
  const shownElsewhere = useShownMetrics(run);
  const go = useGo();
  const pick = (step: number, kind: SampleKind) =>
    void go(samplesAddress(run, base, step, kind) ?? base);
  switch (props.tab) {
    case "reward-vs-kl":
      return (
        <RewardVsKlTab run={run} live={curves.live} tick={curves.tick} isLoaded={curves.isLoaded} />
      );
    case "prompts":
      return <PromptsTab run={run} base={base} />;
    case "samples":
      return <SamplesTab run={run} />;
    case "answers":
      return <AnswersTab run={run} />;
    case "logs":
      return <LogsTab run={run} fresh={live.lines} />;
    case "config":
      return <ConfigTab run={run} />;
    case "checkpoints":
      return <CheckpointsTab run={run} />;
    case "events":
      return <EventsTab run={run} />;
    default:
      return (
        <>
          <VerdictDetails run={run} base={base} />
          <SetsCard run={run} />
          <CurvesTab
            run={run}
            live={curves.live}
            tick={curves.tick}
            isLoaded={curves.isLoaded}
            isWaiting={WAITING.has(run.state)}
            shownElsewhere={shownElsewhere}
            onPick={samplesAddress(run, base) === null ? undefined : pick}
          />
        </>
      );
  }
}
