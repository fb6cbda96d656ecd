/** What happens right now; nothing here needs a click to be useful. */
import "./now.css";

import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { progressQuery } from "@/api/assignments";
import { projectQuery } from "@/api/projects";
import { endedRunsQuery, alertsQuery, workersQuery } from "@/api/runs";
import type {
  Agreement,
  AnnotationProgress,
  Listing,
  Project,
  Run,
  RunEvent,
  Worker,
} from "@/api/types";
import { Icon, type IconName } from "@/components/icons";
import { IntervalBar } from "@/components/agreement/interval-bar";
import { StatePill } from "@/components/run-state";
import { ProgressBar } from "@/components/run-list/progress-bar";
import { timeLeft } from "@/components/run-list/time-left";
import { LastValue, Trend, useTrends } from "@/components/run-list/trends";
import { Empty, Failed, Failure, Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { MethodName } from "@/components/text/names";
import { Sentence } from "@/components/text/sentence";
import {
  certainty,
  decimals,
  headline,
  whyNoInterval,
  whyUndefined,
} from "@/components/agreement/words";
import { useVerdictsAsked, type Verdicts } from "@/components/run-list/use-verdicts";
import { VerdictFailed, VerdictPill } from "@/components/verdict/verdict-pill";
import { useMayChange, useMayRank } from "@/components/use-may";
import { useLiveRuns } from "@/components/run-list/use-live-runs";
import { PageTitle } from "@/components/page-title";
import { lowerFirst, number, plural, sentence, summaryLine, words } from "@/lib/format";
import { useProjectId } from "@/lib/address/use-project";

import { useAgreement } from "./use-agreement";

const REFRESH_MS = 3000;
/** Its counts are of all its records. */
const PROJECT_REFRESH_MS = 60_000;
const BROKEN = ["failed", "crashed"];
const FINISHED = ["succeeded"];

/** What is asked of all runs of the page at once. */
interface Asked {
  readonly trends: ReturnType<typeof useTrends>;
  readonly verdicts: Verdicts;
}

function RunLine({ run, asked }: { run: Run; asked: Asked }) {
  const verdict = asked.verdicts.found.get(run.id);
  const { phase } = run.progress;
  const isRunning = run.state === "running";
  return (
    <li>
      <Link className="line" to={`/projects/${run.project_id}/runs/${run.id}`}>
        <span className="who">
          <b className="clip">{run.name}</b>
          <span className="small muted clip" title={run.error?.message}>
            {run.error === null ? (
              <MethodName run={run} />
            ) : (
              sentence(summaryLine(run.error.message))
            )}
          </span>
        </span>
        <span className="pills">
          <StatePill state={run.state} title={run.state_sentence} />
          {verdict !== undefined && <VerdictPill verdict={verdict} />}
          {asked.verdicts.failed.has(run.id) && <VerdictFailed />}
        </span>
        <Trend headline={asked.trends.get(run.id)} />
        <span className="mono last">
          <LastValue run={run} headline={asked.trends.get(run.id)} />
        </span>
        <span className="how-far">
          <ProgressBar run={run} />
          <span className="small faint">
            {isRunning
              ? [phase && words(phase), timeLeft(run.progress)].filter(Boolean).join(", ")
              : ""}
            {!isRunning && (
              <>
                {run.finished_at === null ? "created" : "ended"}{" "}
                <Ago at={run.finished_at ?? run.created_at} />
              </>
            )}
          </span>
        </span>
      </Link>
    </li>
  );
}

function RunList(props: {
  title: string;
  runs: readonly Run[];
  asked: Asked;
  empty?: ReactNode;
  /** Said under a list that does not have all. */
  cut?: ReactNode;
}) {
  if (props.runs.length === 0 && props.empty === undefined) return null;
  return (
    <section className="card now-runs">
      <h2 className="card-title">{props.title}</h2>
      {props.runs.length === 0 ? (
        props.empty
      ) : (
        <ul>
          {props.runs.map((run) => (
            <RunLine key={run.id} run={run} asked={props.asked} />
          ))}
        </ul>
      )}
      {props.cut}
    </section>
  );
}

/** The runs that have ended one way; where they could not be had, the place says so. */
function EndedRuns(props: { title: string; query: UseQueryResult<Listing<Run>>; asked: Asked }) {
  const { title, query, asked } = props;
  if (query.data !== undefined)
    return <RunList title={title} runs={query.data.items} asked={asked} />;
  return <Failed query={query} what={`The ${lowerFirst(title)}`} />;
}

/** One note where the alerts of several runs could not be had: the reason is the same. */
function ActiveAlerts({ runs }: { runs: readonly Run[] }) {
  const asked = useQueries({
    queries: runs.map(({ id }) => ({ ...alertsQuery(id), refetchInterval: REFRESH_MS * 4 })),
  });
  const failed = asked.filter(({ data, error }) => data === undefined && error !== null);
  return (
    <div className="now-alerts">
      {failed[0] !== undefined && (
        <Failure
          error={failed[0].error}
          about={`The alerts of ${plural(failed.length, "active run")} could not be loaded.`}
          isAsking={failed.some(({ isFetching }) => isFetching)}
          onRetry={() => failed.forEach(({ refetch }) => void refetch())}
        />
      )}
      {runs.map((run, place) => (
        <RunAlerts key={run.id} run={run} events={asked[place]?.data ?? []} />
      ))}
    </div>
  );
}

function RunAlerts({ run, events }: { run: Run; events: readonly RunEvent[] }) {
  const alert = events.findLast(
    (event) => event.type === "alert" && event.data["level"] !== "info",
  );
  if (alert === undefined) return null;
  return (
    <div className="note warn">
      <Icon name="alert" />
      <span className="grow">
        <b>{run.name}.</b> <Sentence text={sentence(String(alert.data["message"]))} />
      </span>
      <Link className="btn" to={`/projects/${run.project_id}/runs/${run.id}`}>
        Open
      </Link>
    </div>
  );
}

function Statistic(props: { label: string; value: string; sub?: ReactNode }) {
  return (
    <div className="statistic">
      <span className="small faint">{props.label}</span>
      <b>{props.value}</b>
      {props.sub !== undefined && <span className="small muted">{props.sub}</span>}
    </div>
  );
}

function AgreementSummary({ projectId, found }: { projectId: string; found: Agreement }) {
  const { agreement } = found.everybody;
  return (
    <div className="now-agreement">
      <Statistic
        label="Agreement beyond chance"
        value={decimals(agreement.value)}
        sub={agreement.value === null ? undefined : certainty(agreement)}
      />
      <IntervalBar value={agreement.value} interval={agreement.interval} />
      <p className="small muted">
        {whyUndefined(found) ?? whyNoInterval(agreement) ?? headline(agreement)}
      </p>
      <Link className="small" to={`/projects/${projectId}/data/agreement`}>
        Agreement by annotator and week
      </Link>
    </div>
  );
}

function AgreementOf(props: { projectId: string; judgments: number | undefined }) {
  const agreement = useAgreement(props.projectId, props.judgments);
  return (
    <Loaded query={agreement} lines={3}>
      {(found) => <AgreementSummary projectId={props.projectId} found={found} />}
    </Loaded>
  );
}

function RankingProgress({ project }: { project: Project }) {
  const progress = useQuery({ ...progressQuery(project.id), refetchInterval: REFRESH_MS * 2 });
  const left = progress.data === undefined ? 0 : progress.data.available + progress.data.held;
  return (
    <section className="card padded">
      <header className="row">
        <h2>Ranking</h2>
        <span className="grow" />
        {left > 0 && (
          <Link className="btn" to={`/projects/${project.id}/rank`}>
            <Icon name="rank" /> Rank {plural(left, "comparison")}
          </Link>
        )}
      </header>
      <Loaded query={progress}>{(found) => <RankingNumbers found={found} />}</Loaded>
      <AgreementOf projectId={project.id} judgments={progress.data?.done} />
    </section>
  );
}

function RankingNumbers({ found: { done, wanted, mine } }: { found: AnnotationProgress }) {
  return (
    <>
      <div className="bar big">
        <i style={{ width: `${wanted > 0 ? Math.min(100, (100 * done) / wanted) : 0}%` }} />
      </div>
      <div className="statistics">
        <Statistic label="Judgments" value={number(done)} sub={`of ${number(wanted)} required`} />
        <Statistic label="By you" value={number(mine)} />
      </div>
    </>
  );
}

/** For those who do not rank, whom the API tells no progress: what the project has and still wants. */
function RankingCounts({ project }: { project: Project }) {
  const counts = project.counts ?? null;
  if (counts === null) return null;
  return (
    <section className="card padded">
      <h2>Ranking</h2>
      <div className="statistics">
        <Statistic label="Judgments" value={number(counts.judgments)} />
        <Statistic label="Comparisons to judge" value={number(counts.open_comparisons)} />
      </div>
      <AgreementOf projectId={project.id} judgments={counts.judgments} />
    </section>
  );
}

function DataCounts({ project }: { project: Project }) {
  const counts = project.counts ?? null;
  const mayChange = useMayChange(project.id);
  if (counts === null) return null;
  return (
    <section className="card padded">
      <header className="row">
        <h2>Data</h2>
        <span className="grow" />
        {mayChange && (
          <Link className="btn" to={`/projects/${project.id}/data/import`}>
            <Icon name="plus" /> Import
          </Link>
        )}
      </header>
      <div className="statistics">
        <Statistic label="Prompts" value={number(counts.prompts)} />
        <Statistic label="Responses" value={number(counts.responses)} />
        <Statistic label="Comparisons" value={number(counts.comparisons)} />
        <Statistic label="Demonstrations" value={number(counts.demonstrations)} />
        <Statistic label="Solutions" value={number(counts.solutions)} />
      </div>
    </section>
  );
}

function WorkerSummary({ projectId }: { projectId: string }) {
  const workers = useQuery({ ...workersQuery, refetchInterval: REFRESH_MS * 3 });
  return (
    <section className="card padded">
      <h2>Workers</h2>
      <Loaded query={workers} lines={2}>
        {({ items }) => (
          <WorkerNumbers projectId={projectId} alive={items.filter((one) => one.is_alive)} />
        )}
      </Loaded>
    </section>
  );
}

function WorkerNumbers({ projectId, alive }: { projectId: string; alive: readonly Worker[] }) {
  if (alive.length === 0)
    return (
      <p className="muted">
        No worker is running, so queued runs wait. The{" "}
        <Link to={`/projects/${projectId}/workers`}>Workers</Link> page says how to start one.
      </p>
    );
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.busy, 0);
  return (
    <div className="statistics">
      <Statistic label="Running" value={number(alive.length)} />
      <Statistic label="Slots busy" value={`${busy} of ${slots}`} />
    </div>
  );
}

interface Step {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  readonly to: string;
}

const FIRST_STEPS: readonly Step[] = [
  {
    icon: "data",
    title: "Import prompts",
    text: "Prompts are the questions that your model should answer.",
    to: "data/import",
  },
  {
    icon: "models",
    title: "Register a model",
    text: "Choose a folder or GGUF file on the machine that runs Podium, or a Hugging Face Hub id.",
    to: "models",
  },
  {
    icon: "play",
    title: "Sample responses",
    text: "Freeze the prompts as a snapshot. A generate run samples several responses to each.",
    to: "runs/new?method=generate",
  },
  {
    icon: "rank",
    title: "Rank them",
    text: "Order the responses from best to worst with the keyboard.",
    to: "rank",
  },
  {
    icon: "lock",
    title: "Freeze the rankings",
    text: "A snapshot of preferences holds the judgments. Runs read snapshots only.",
    to: "data/snapshots",
  },
  {
    icon: "runs",
    title: "Train",
    text: "Train a reward model first, then the policy.",
    to: "runs/new?method=reward_model",
  },
];

function FirstSteps({ projectId }: { projectId: string }) {
  return (
    <section className="card">
      <h2 className="card-title">Get started</h2>
      <ol className="first-steps">
        {FIRST_STEPS.map((step, place) => (
          <li key={step.title}>
            <Link to={`/projects/${projectId}/${step.to}`}>
              <Icon name={step.icon} />
              <b>
                {place + 1}. {step.title}
              </b>
              <span className="small muted">{step.text}</span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function NowPage() {
  const projectId = useProjectId();
  const project = useQuery({ ...projectQuery(projectId), refetchInterval: PROJECT_REFRESH_MS });
  const live = useLiveRuns(projectId);
  const broken = useQuery(endedRunsQuery(projectId, BROKEN, 5));
  const finished = useQuery(endedRunsQuery(projectId, FINISHED, 8));
  return (
    <div className="page">
      <Loaded query={project} lines={8}>
        {(found) => (
          <>
            <div className="page-head">
              <div>
                <PageTitle>{found.name}</PageTitle>
                <h1>{found.name}</h1>
                <p>
                  {plural(found.counts?.comparisons ?? 0, "comparison")},{" "}
                  {plural(found.counts?.judgments ?? 0, "judgment")}
                </p>
              </div>
            </div>
            <Loaded query={live}>
              {({ items, next_cursor }) => (
                <NowContent
                  project={found}
                  active={items}
                  isCut={next_cursor !== null}
                  broken={broken}
                  finished={finished}
                />
              )}
            </Loaded>
          </>
        )}
      </Loaded>
    </div>
  );
}

function ActiveRunsCut({ projectId, n }: { projectId: string; n: number }) {
  return (
    <p className="small muted cut">
      More than {number(n)} runs are active: running ones come first here, then queued, then paused.
      The <Link to={`/projects/${projectId}/runs`}>Runs</Link> page lists all runs.
    </p>
  );
}

function ActiveRuns(props: {
  project: Project;
  runs: readonly Run[];
  isCut: boolean;
  asked: Asked;
  mayChange: boolean;
}) {
  const { project, runs, isCut, asked, mayChange } = props;
  return (
    <RunList
      title="Active runs"
      runs={runs}
      asked={asked}
      cut={isCut && <ActiveRunsCut projectId={project.id} n={runs.length} />}
      empty={
        <Empty
          icon="play"
          title="No active runs"
          actions={
            mayChange && (
              <Link className="btn primary" to={`/projects/${project.id}/runs/new`}>
                <Icon name="plus" /> New run
              </Link>
            )
          }
        >
          {mayChange
            ? "Running, queued and paused runs appear here."
            : "Runs that researchers of this project start appear here while they run, wait or are paused."}
        </Empty>
      }
    />
  );
}

function NowContent(props: {
  project: Project;
  active: readonly Run[];
  isCut: boolean;
  broken: UseQueryResult<Listing<Run>>;
  finished: UseQueryResult<Listing<Run>>;
}) {
  const { project, active, isCut, broken, finished } = props;
  const runs = [...active, ...(broken.data?.items ?? []), ...(finished.data?.items ?? [])];
  const asked = { trends: useTrends(runs), verdicts: useVerdictsAsked(runs) };
  const mayChange = useMayChange(project.id);
  const mayRank = useMayRank(project.id);
  const isKnown = broken.data !== undefined && finished.data !== undefined;
  const isNew = isKnown && runs.length === 0 && (project.counts?.prompts ?? 0) === 0;
  return (
    <>
      <ActiveAlerts runs={active.filter(({ state }) => state !== "queued")} />
      <div className="now-grid">
        <div className="now-main">
          {isNew && mayChange ? (
            <FirstSteps projectId={project.id} />
          ) : (
            <ActiveRuns
              project={project}
              runs={active}
              isCut={isCut}
              asked={asked}
              mayChange={mayChange}
            />
          )}
          <EndedRuns title="Latest failures" query={broken} asked={asked} />
          <EndedRuns title="Latest finished runs" query={finished} asked={asked} />
        </div>
        <div className="now-side">
          {mayRank ? <RankingProgress project={project} /> : <RankingCounts project={project} />}
          <DataCounts project={project} />
          <WorkerSummary projectId={project.id} />
        </div>
      </div>
    </>
  );
}
