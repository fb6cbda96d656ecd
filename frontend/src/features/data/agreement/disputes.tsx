/** The comparisons about which annotators disagree most, each with its texts and who ranked it how. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useId, useState } from "react";

import { rankedComparisonQuery } from "@/api/judgments";
import { askForJudgments } from "@/api/projects";
import type { Agreement, RankedComparison } from "@/api/types";
import { decimals } from "@/components/agreement/words";
import { PendingButton } from "@/components/form/pending-button";
import { RankedComparisonCard } from "@/components/rankings/ranked-comparison";
import { Refused } from "@/components/refused";
import { Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { useMayChange } from "@/components/use-may";
import { number, plural, shortId } from "@/lib/format";

/** How many are shown before somebody asks for all. */
const FIRST = 10;

export function Disputes({ projectId, found }: { projectId: string; found: Agreement }) {
  const { disputes } = found;
  if (disputes.length === 0) return null;
  return (
    <section className="card disputes">
      <h2 className="card-title">Comparisons with the least agreement</h2>
      <p className="hint">Read these together: they show what the guidelines leave open.</p>
      <Table
        columns={[
          "Prompt",
          "Comparison id",
          ["Responses", "num"],
          ["Annotators", "num"],
          ["Contradicted pairs", "num"],
          ["Agreement", "num"],
        ]}
        items={disputes}
        first={FIRST}
      >
        {(one) => <DisputeRows key={one.comparison_id} projectId={projectId} dispute={one} />}
      </Table>
    </section>
  );
}

type Dispute = Agreement["disputes"][number];

/** A row, and below it, once somebody asks, the comparison itself. */
function DisputeRows({ projectId, dispute }: { projectId: string; dispute: Dispute }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <Fragment>
      <tr>
        <td className="text">
          <button
            type="button"
            className="opens"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
          >
            {dispute.prompt}
          </button>
        </td>
        <td className="mono faint nowrap">{shortId(dispute.comparison_id)}</td>
        <td className="num">{dispute.responses}</td>
        <td className="num">{dispute.annotators}</td>
        <td className="num nowrap">
          {number(dispute.contradicted)} of {number(dispute.pairs)}
        </td>
        <td className="num">{decimals(dispute.agreement)}</td>
      </tr>
      {isOpen && (
        <tr className="opened" id={id}>
          <td colSpan={6}>
            <Opened projectId={projectId} comparisonId={dispute.comparison_id} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

function Opened({ projectId, comparisonId }: { projectId: string; comparisonId: string }) {
  const query = useQuery(rankedComparisonQuery(projectId, comparisonId));
  return (
    <Loaded query={query} lines={3}>
      {({ items }) =>
        items.map((one) => (
          <Fragment key={one.id}>
            <RankedComparisonCard comparison={one} isWhole />
            <OneMore projectId={projectId} comparison={one} />
          </Fragment>
        ))
      }
    </Loaded>
  );
}

/** A third judgment decides what two contradict each other about. */
function OneMore({ projectId, comparison }: { projectId: string; comparison: RankedComparison }) {
  const { id, judgments, judgments_required: wanted } = comparison;
  const mayChange = useMayChange(projectId);
  const client = useQueryClient();
  const asking = useMutation({
    // Said as a whole number, so that two people who ask at once ask for the same one.
    mutationFn: (required: number) =>
      askForJudgments(projectId, { comparison_ids: [id], judgments_required: required }),
    onSettled: () => client.invalidateQueries({ queryKey: ["project", projectId] }),
  });
  const left = wanted - judgments.length;
  return (
    <div className="row one-more">
      {mayChange && (
        <PendingButton
          isPending={asking.isPending}
          onPress={() => asking.mutate(Math.max(wanted, judgments.length) + 1)}
        >
          {asking.isPending ? "Asking…" : "Ask for one more judgment"}
        </PendingButton>
      )}
      <span className="small muted" role="status">
        {left > 0 &&
          `It wants ${plural(left, "more judgment")}, of somebody who has not judged it. Comparisons with fewer judgments come first.`}
      </span>
      <Refused asked={asking} />
    </div>
  );
}
