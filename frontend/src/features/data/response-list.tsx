/** Responses: what models and people answered, each with its prompt, where it came from and its scores. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { responsePages } from "@/api/projects";
import type { ListedResponse } from "@/api/types";
import { Scores } from "@/components/response/scores";
import { Empty } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { useMayChange } from "@/components/use-may";
import { FirstLines } from "@/components/text/long/first-lines";
import { PlainText } from "@/components/text/plain-text";
import { useAddress } from "@/lib/address/use-address";

import { ImportLink, Pages } from "./record-lists";

const RUN = "run";

/** Where it came from: the run that sampled it, or what the import says. */
function Source({ response, projectId }: { response: ListedResponse; projectId: string }) {
  const { run_id: runId, run_name: name, source } = response;
  if (runId === null)
    return (
      <span className="muted">
        <PlainText text={source} />
      </span>
    );
  return <Link to={`/projects/${projectId}/runs/${runId}`}>{name}</Link>;
}

/** Says that only one run's are listed, and leads to it and to all. */
function OfOneRun({ runId, projectId }: { runId: string; projectId: string }) {
  const base = `/projects/${projectId}`;
  return (
    <div className="card-title row">
      <h2>Responses of one run</h2>
      <span className="grow" />
      <Link className="btn small" to={`${base}/runs/${runId}`}>
        Open the run
      </Link>
      <Link className="btn small" to={`${base}/data/responses`}>
        Show all responses
      </Link>
    </div>
  );
}

export function ResponseList({ projectId }: { projectId: string }) {
  const { search } = useAddress();
  const runId = search.get(RUN);
  const mayChange = useMayChange(projectId);
  const query = useInfiniteQuery(responsePages(projectId, runId));
  return (
    <Pages
      query={query}
      title={runId !== null && <OfOneRun runId={runId} projectId={projectId} />}
      columns={[
        "Prompt and response",
        ...(runId === null ? ["Source"] : []),
        ["Tokens", "num"],
        "Scores",
        "Added",
      ]}
      empty={
        <Empty
          icon="note"
          title="No responses yet"
          actions={mayChange && <ImportLink projectId={projectId} />}
        >
          Responses come from generate runs and from imported comparisons.
        </Empty>
      }
      row={(response) => (
        <>
          <td className="text response">
            <span className="small muted clip" dir="auto" title={response.prompt}>
              {response.prompt}
            </span>
            <FirstLines text={response.content} />
          </td>
          {runId === null && (
            <td>
              <Source response={response} projectId={projectId} />
            </td>
          )}
          <td className="num">{response.n_tokens ?? "–"}</td>
          <td>
            <Scores scores={response.scores} className="nums" />
          </td>
          <td className="small muted">
            <Ago at={response.created_at} />
          </td>
        </>
      )}
    />
  );
}
