/** How far annotators agree: the headline, then by annotator, by week, by ranks, by comparison. */
import "./agreement.css";

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { judgmentCountsQuery } from "@/api/judgments";
import { agreementQuery, projectQuery } from "@/api/projects";
import type { Agreement, Project } from "@/api/types";
import { CriterionChoice } from "./criterion-choice";
import { IntervalBar } from "@/components/agreement/interval-bar";
import { Empty, Loaded, Skeleton } from "@/components/states";
import { Table } from "@/components/table";
import {
  certainty,
  decimals,
  headline,
  range,
  whenKnown,
  whyNoInterval,
  whyUndefined,
} from "@/components/agreement/words";
import { number, plural } from "@/lib/format";

import { NoJudgments } from "../no-judgments";
import { firstJudged } from "./first-judged";
import { Disputes } from "./disputes";
import { FactsTable, type Row } from "./facts-table";
import { Skips } from "./skips/skips";

function Headline({ found }: { found: Agreement }) {
  const { agreement } = found.everybody;
  const undefinedWhy = whyUndefined(found);
  return (
    <section className="card padded agreement-head" aria-label="Agreement">
      <div className="figure">
        <span className="small faint">Agreement beyond chance</span>
        <b className={agreement.interval === null ? "unsure" : undefined}>
          {decimals(agreement.value)}
        </b>
        {agreement.value !== null && <span className="muted">{certainty(agreement)}</span>}
      </div>
      <div className="words">
        {undefinedWhy === null && (
          <div className="scale">
            <IntervalBar value={agreement.value} interval={agreement.interval} />
            <span className="small faint chance-label">0 chance</span>
            <span className="small faint full-label">1 always alike</span>
          </div>
        )}
        <p>{undefinedWhy ?? headline(agreement)}</p>
        {undefinedWhy === null && (
          <p className="muted">
            {whyNoInterval(agreement) ??
              `Measured on ${plural(agreement.comparisons, "comparison")} that two annotators ranked.`}
          </p>
        )}
      </div>
    </section>
  );
}

function Annotators({ found, criterion }: { found: Agreement; criterion: string | null }) {
  const rows: Row[] = found.annotators.map((one, at) => ({
    key: one.user_id,
    // Viewers are not told who is who.
    name: one.name ?? `Annotator ${at + 1}`,
    facts: one,
  }));
  const total: Row = { key: "", name: "Everybody", facts: found.everybody, isTotal: true };
  return (
    <section className="card">
      <h2 className="card-title">Annotators</h2>
      <p className="hint">
        The agreement of an annotator is with those who ranked the same comparisons. A share is
        marked as above or below chance only where its 95 % interval excludes chance; by luck alone,
        one in twenty is marked. An interval needs at least 20 comparisons. It says what further
        comparisons by the same annotators would show, not what other annotators would say.
        {found.everybody.reward_accuracy.value !== null &&
          " “Reward model agrees” is about the reward model of the run that sampled both responses; if that run had several, the first."}
      </p>
      <FactsTable
        label="Name"
        rows={rows.length > 1 ? [total, ...rows] : rows}
        criterion={criterion}
      />
    </section>
  );
}

function Weeks({ found }: { found: Agreement }) {
  if (found.weeks.length < 2) return null;
  const rows: Row[] = found.weeks.map((one) => ({
    key: one.monday,
    name: one.monday,
    facts: one,
  }));
  return (
    <section className="card">
      <h2 className="card-title">Weeks</h2>
      <p className="hint">
        Agreement between two judgments counts in the week of the later one. Weeks begin on Monday,
        UTC.
      </p>
      <FactsTable label="Week from" rows={rows.toReversed()} />
    </section>
  );
}

function RankCell(props: {
  name: string;
  value: number | null;
  interval: readonly [number, number] | null;
}) {
  const { name, value, interval } = props;
  return (
    <td className="num share" title={`${name}, 95 % interval ${range(interval)}`}>
      <b className={interval === null ? "unsure" : undefined}>{decimals(value)}</b>
      {value !== null && (
        <span className="small faint nowrap">
          {interval === null ? "interval n/a" : range(interval)}
        </span>
      )}
    </td>
  );
}

function Ranks({ found }: { found: Agreement }) {
  if (found.ranks.length === 0) return null;
  return (
    <section className="card ranks">
      <h2 className="card-title">Agreement on ranks</h2>
      <p className="hint">
        Computed over the responses that all annotators of a comparison placed, separately for each
        number of responses, because ranks among two and among eight cannot be mixed. With fewer
        than 20 comparisons there is no interval, and the number is unreliable.
      </p>
      <Table
        columns={[
          ["Responses", "num"],
          ["Comparisons", "num"],
          ["Krippendorff's α", "num"],
          ["Kendall's W", "num"],
          ["W by chance", "num"],
        ]}
        items={found.ranks}
      >
        {(one) => (
          <tr key={one.responses}>
            <td className="num">{one.responses}</td>
            <td className="num">{number(one.comparisons)}</td>
            <RankCell name="Krippendorff's α" value={one.alpha} interval={one.alpha_interval} />
            <RankCell
              name="Kendall's W"
              value={one.kendalls_w}
              interval={one.kendalls_w_interval}
            />
            <td className="num">{decimals(one.kendalls_w_by_chance)}</td>
          </tr>
        )}
      </Table>
    </section>
  );
}

export function AgreementTab({ projectId }: { projectId: string }) {
  const project = useQuery(projectQuery(projectId));
  return (
    <Loaded query={project} lines={8}>
      {(found) =>
        found.criteria.length === 0 ? (
          <div className="agreement-tab">
            <Report projectId={projectId} criterion={null} empty={<NoneYet project={found} />} />
            <Skips projectId={projectId} />
          </div>
        ) : (
          <ByCriterion project={found} />
        )
      }
    </Loaded>
  );
}

function ByCriterion({ project }: { project: Project }) {
  const projectId = project.id;
  const names = project.criteria.map(({ name }) => name);
  const [chosen, setCriterion] = useState<string | null>(null);
  const counts = useQuery(judgmentCountsQuery(projectId));
  const isKnown = counts.data !== undefined || counts.error !== null;
  const first = counts.data === undefined ? null : firstJudged(names, counts.data);
  const criterion = chosen ?? first;
  const isAnyJudged = counts.data === undefined || counts.data.judgments > 0;
  const empty = isAnyJudged ? <NoneUnderThis /> : <NoneYet project={project} />;
  return (
    <div className="agreement-tab">
      <CriterionChoice projectId={projectId} value={criterion} onChange={setCriterion} />
      {isKnown || chosen !== null ? (
        <Report projectId={projectId} criterion={criterion} empty={empty} />
      ) : (
        <Skeleton lines={8} />
      )}
      <Skips projectId={projectId} />
    </div>
  );
}

const NoneYet = ({ project }: { project: Project }) => (
  <NoJudgments projectId={project.id}>{whenKnown(project)}</NoJudgments>
);

const NoneUnderThis = () => (
  <Empty icon="rank" title="No judgments under this criterion">
    Choose another criterion above.
  </Empty>
);

function Report(props: { projectId: string; criterion: string | null; empty: ReactNode }) {
  const query = useQuery(agreementQuery(props.projectId, props.criterion));
  return (
    <Loaded query={query} lines={8}>
      {(found) =>
        found.everybody.judgments === 0 ? (
          <section className="card">{props.empty}</section>
        ) : (
          <>
            <Headline found={found} />
            <Annotators found={found} criterion={props.criterion} />
            <Weeks found={found} />
            <Disputes projectId={props.projectId} found={found} />
            <Ranks found={found} />
          </>
        )
      }
    </Loaded>
  );
}
