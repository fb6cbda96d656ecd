/** Prompts, demonstrations, comparisons and judgments as paged lists. */
import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { comparisonPages, demonstrationPages, judgmentPages, promptPages } from "@/api/projects";
import type { Judgment, Listing } from "@/api/types";
import { More } from "@/components/more";
import { Empty, Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { firstWords } from "@/components/text/conversation";
import { number, shortId, words } from "@/lib/format";

import { NoJudgments } from "./no-judgments";

interface PagedQuery<Item> {
  data: InfiniteData<Listing<Item>> | undefined;
  error: Error | null;
  refetch: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
}

export function Pages<Item extends { id: string }>(props: {
  query: PagedQuery<Item>;
  columns: readonly Column[];
  empty: ReactNode;
  title?: ReactNode;
  row: (item: Item) => ReactNode;
}) {
  return (
    <section className="card">
      {props.title}
      <Loaded query={props.query} lines={8}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return (
            <Table columns={props.columns} items={items} empty={props.empty}>
              {(item) => <tr key={item.id}>{props.row(item)}</tr>}
            </Table>
          );
        }}
      </Loaded>
      <More query={props.query} />
    </section>
  );
}

export function ImportLink({ projectId }: { projectId: string }) {
  return (
    <Link className="btn primary" to={`/projects/${projectId}/data/import`}>
      Import a file
    </Link>
  );
}

export function PromptList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(promptPages(projectId));
  return (
    <Pages
      query={query}
      columns={["Prompt", "Tags", ["Turns", "num"], "Added"]}
      empty={
        <Empty icon="data" title="No prompts yet" actions={<ImportLink projectId={projectId} />}>
          Import a file with one prompt per record: NDJSON, JSON, CSV or Parquet.
        </Empty>
      }
      row={(prompt) => (
        <>
          <td className="text">{firstWords(prompt.messages)}</td>
          <td>
            {prompt.tags.map((tag) => (
              <span key={tag} className="tag">
                {tag}
              </span>
            ))}
          </td>
          <td className="num">{prompt.messages.length}</td>
          <td className="small muted">
            <Ago at={prompt.created_at} />
          </td>
        </>
      )}
    />
  );
}

export function DemonstrationList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(demonstrationPages(projectId));
  return (
    <Pages
      query={query}
      columns={["Response", "Prompt id", "Added"]}
      empty={
        <Empty
          icon="note"
          title="No demonstrations yet"
          actions={<ImportLink projectId={projectId} />}
        >
          A demonstration is a response that a person wrote. Supervised fine-tuning trains on
          demonstrations.
        </Empty>
      }
      row={(demonstration) => (
        <>
          <td className="text">{demonstration.content}</td>
          <td className="mono faint">{shortId(demonstration.prompt_id)}</td>
          <td className="small muted">
            <Ago at={demonstration.created_at} />
          </td>
        </>
      )}
    />
  );
}

export function ComparisonList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(comparisonPages(projectId));
  return (
    <Pages
      query={query}
      columns={["Comparison id", ["Responses", "num"], ["Judgments", "num"], "Source", "Added"]}
      empty={
        <Empty
          icon="rank"
          title="No comparisons yet"
          actions={
            <Link className="btn primary" to={`/projects/${projectId}/runs/new?method=generate`}>
              Sample responses to rank
            </Link>
          }
        >
          A comparison is a prompt with 2 to 9 responses. Generate runs and imports create
          comparisons.
        </Empty>
      }
      row={(comparison) => (
        <>
          <td className="mono">{shortId(comparison.id)}</td>
          <td className="num">{comparison.response_ids.length}</td>
          <td className="num">
            {comparison.judgments} of {comparison.judgments_required}
          </td>
          <td>
            {comparison.run_id === null ? (
              <span className="muted">import or API</span>
            ) : (
              <Link to={`/projects/${projectId}/runs/${comparison.run_id}`}>generate run</Link>
            )}
          </td>
          <td className="small muted">
            <Ago at={comparison.created_at} />
          </td>
        </>
      )}
    />
  );
}

/** "n5vt > xv7q = e2tc": the ends of the response ids, best first; one line for each criterion. */
export function Order({ judgment }: { judgment: Judgment }) {
  if (judgment.rankings.length === 0) return order(judgment);
  return judgment.rankings.map((ranking) => (
    <div key={ranking.criterion}>
      <span className="faint">{ranking.criterion}</span> {order(ranking)}
    </div>
  ));
}

function order({ verdict, tiers }: Pick<Judgment, "verdict" | "tiers">): string {
  if (verdict !== "ranked") return words(verdict);
  return tiers.map((tier) => tier.map((id) => id.slice(-4)).join(" = ")).join(" > ");
}

export function JudgmentList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(judgmentPages(projectId));
  return (
    <Pages
      query={query}
      columns={["Response ids, best first", "Note", ["Active time", "num"], "Submitted"]}
      empty={
        <NoJudgments projectId={projectId}>
          Every ranking that an annotator submits is listed here.
        </NoJudgments>
      }
      row={(judgment) => (
        <>
          <td className="mono text">
            <Order judgment={judgment} />
          </td>
          <td>{judgment.comment}</td>
          <td className="num">
            {judgment.active_ms === null ? "–" : `${number(judgment.active_ms / 1000)} s`}
          </td>
          <td className="small muted">
            <Ago at={judgment.created_at} />
          </td>
        </>
      )}
    />
  );
}
