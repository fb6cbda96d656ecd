/** Demonstrations, comparisons and judgments as paged lists. */
import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { comparisonPages, demonstrationPages, judgmentPages } from "@/api/projects";
import type { Judgment, ListedJudgment, Listing } from "@/api/types";
import { More } from "@/components/more";
import { withReasons } from "@/components/rankings/ranking-words";
import { Empty, Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { useMayChange } from "@/components/use-may";
import { number, shortId, words } from "@/lib/format";

import { NoJudgments } from "./no-judgments";

interface PagedQuery<Item> {
  data: InfiniteData<Listing<Item>> | undefined;
  error: Error | null;
  refetch: () => unknown;
  isFetching: boolean;
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

/** Leads whoever may import to the import; others are told where records come from. */
export function ImportLink({ projectId }: { projectId: string }) {
  if (!useMayChange(projectId))
    return (
      <span className="muted">
        They appear here when a researcher of this project imports them.
      </span>
    );
  return (
    <Link className="btn primary" to={`/projects/${projectId}/data/import`}>
      Import a file
    </Link>
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
  const mayChange = useMayChange(projectId);
  return (
    <Pages
      query={query}
      columns={["Prompt", ["Responses", "num"], ["Judgments", "num"], "Source", "Added"]}
      empty={
        <Empty
          icon="rank"
          title="No comparisons yet"
          actions={
            mayChange && (
              <Link className="btn primary" to={`/projects/${projectId}/runs/new?method=generate`}>
                Sample responses to rank
              </Link>
            )
          }
        >
          A comparison is a prompt with 2 to 9 responses. Generate runs and imports create
          comparisons.
        </Empty>
      }
      row={(comparison) => (
        <>
          <td className="text" title={comparison.id}>
            {comparison.prompt}
          </td>
          <td className="num">{comparison.response_ids.length}</td>
          <td className="num">
            {comparison.judgments} of {comparison.judgments_required}
          </td>
          <td>
            {comparison.run_id === null ? (
              <span className="muted">import, samples or API</span>
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

/** What was judged: the beginning of the prompt, and below it the responses from best to worst. */
export function Judged({ judgment }: { judgment: ListedJudgment }) {
  const { flags, rankings, responses } = judgment;
  return (
    <td className="judged">
      <span className="clip" dir="auto" title={judgment.prompt}>
        {judgment.prompt}
      </span>
      {(rankings.length === 0 ? [{ criterion: "", ...judgment }] : rankings).map((one) => (
        <Order key={one.criterion} criterion={one.criterion} ranking={one} texts={responses} />
      ))}
      {flags.length > 0 && (
        <div className="small muted order">
          <i>Flagged</i>
          {flags.map((id) => (
            <Beginning key={id} id={id} texts={responses} />
          ))}
        </div>
      )}
    </td>
  );
}

interface OrderProps {
  criterion: string;
  ranking: Pick<Judgment, "verdict" | "tiers" | "reasons">;
  texts: ListedJudgment["responses"];
}

/** "1. Cold water first. 2. Bleach it. = Soap.": equally good responses share a place. */
function Order({ criterion, ranking, texts }: OrderProps) {
  return (
    <div className="small muted order">
      {criterion !== "" && <i>{criterion}</i>}
      {ranking.verdict !== "ranked" && (
        <span>{withReasons(words(ranking.verdict), ranking.reasons)}</span>
      )}
      {ranking.tiers.map((tier, place) => (
        <span key={place}>
          <b className="mono">{place + 1}</b>{" "}
          {tier.map((id, nth) => (
            <span key={id}>
              {nth > 0 && " = "}
              <Beginning id={id} texts={texts} />
            </span>
          ))}
        </span>
      ))}
    </div>
  );
}

function Beginning({ id, texts }: { id: string; texts: ListedJudgment["responses"] }) {
  return <bdi title={texts[id]}>{shortText(texts[id] ?? shortId(id))}</bdi>;
}

const MOST_CHARACTERS = 36;

const shortText = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1).trimEnd()}…` : text;

export function JudgmentList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(judgmentPages(projectId));
  return (
    <Pages
      query={query}
      columns={[
        "Prompt, and responses from best to worst",
        "Annotator",
        "Note",
        ["Active time", "num"],
        "Submitted",
      ]}
      empty={
        <NoJudgments projectId={projectId}>
          Every ranking that an annotator submits is listed here.
        </NoJudgments>
      }
      row={(judgment) => (
        <>
          <Judged judgment={judgment} />
          <td>{judgment.by ?? <span className="faint">not shown</span>}</td>
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
