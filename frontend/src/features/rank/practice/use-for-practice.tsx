/** For who leads: the comparison on screen becomes practice, with the ranking on screen expected. */
import { useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";

import { addToPractice } from "@/api/practice";
import type { Assignment } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { ExplanationField } from "@/components/form/explanation-field";
import { useSending } from "@/components/form/use-sending";
import { Failure } from "@/components/states";

import { isComplete } from "../criteria/steps";
import { draftOf, dropDraft } from "../leases/drafts";
import { atStep, completed, judgmentOf, type Ranking } from "../ranking/ranking";
import { ExpectedOfTwo } from "./expected-of-two";
import { orderOf } from "./orders";

export function UseForPractice(props: {
  projectId: string;
  assignment: Assignment;
  onUsed: (assignmentId: string) => void;
}) {
  const [expected, setExpected] = useState<Ranking | null>(null);
  return (
    <>
      <button
        type="button"
        className="btn ghost use-for-practice"
        aria-label="Use for practice"
        onClick={() => setExpected(completed(draftOf(props.assignment)))}
      >
        <span className="long">Use for practice</span>
        <span className="short">Practice</span>
      </button>
      {expected !== null && (
        <PracticeDialog
          {...props}
          expected={expected}
          onExpect={setExpected}
          onClose={() => setExpected(null)}
        />
      )}
    </>
  );
}

/** Practice expects an order: all bad or a single card expects none. */
const ordersPairs = (ranking: Ranking): boolean =>
  isComplete(ranking) &&
  stepsOf(ranking).every(({ verdict, tiers }) => verdict === "ranked" && tiers.flat().length > 1);

const stepsOf = (ranking: Ranking): Ranking[] =>
  ranking.criteria.length === 0
    ? [ranking]
    : ranking.criteria.map((_, step) => atStep(ranking, step));

function PracticeDialog(props: {
  projectId: string;
  assignment: Assignment;
  expected: Ranking;
  onExpect: (expected: Ranking) => void;
  onUsed: (assignmentId: string) => void;
  onClose: () => void;
}) {
  const { projectId, assignment, expected } = props;
  const { id: comparisonId, responses } = assignment.comparison;
  const [explanation, setExplanation] = useState("");
  const client = useQueryClient();
  const saving = useSending(
    "A comparison was not added to practice.",
    {
      mutationFn: (explanation: string) => {
        const ids = responses.map((response) => response.id);
        return addToPractice(projectId, comparisonId, {
          expected: { ...judgmentOf(expected, ids), revise: false },
          explanation,
        });
      },
      onSuccess: async () => {
        dropDraft(assignment.id);
        await client.invalidateQueries({ queryKey: ["project", projectId] });
        props.onUsed(assignment.id);
      },
    },
    props.onClose,
  );
  const isReady = ordersPairs(expected);
  // Of two responses one key on the page would submit: the dialog asks.
  const isOfTwo = expected.count === 2;
  return (
    <Dialog
      title="Use this comparison for practice"
      onClose={props.onClose}
      footer={
        <button
          type="button"
          className="btn primary"
          disabled={!isReady || saving.isPending}
          onClick={() => saving.mutate(explanation)}
        >
          Use for practice
        </button>
      }
    >
      {isReady || isOfTwo ? (
        <div className="stack">
          <p className="muted">
            Annotators rank it before their first comparison, and then see your ranking and your
            explanation. It is no longer given out to be judged; its judgments are kept.
          </p>
          {isOfTwo ? (
            <ExpectedOfTwo expected={expected} onExpect={props.onExpect} />
          ) : (
            <dl className="practice-orders">
              {stepsOf(expected).map((ranking, step) => (
                <Fragment key={step}>
                  <dt className="muted">{expected.criteria[step]?.name ?? "Expected"}</dt>
                  <dd className="mono">{orderOf(ranking.tiers)}</dd>
                </Fragment>
              ))}
            </dl>
          )}
          <ExplanationField value={explanation} onChange={setExplanation} />
          {saving.error !== null && <Failure error={saving.error} />}
        </div>
      ) : (
        <p>
          Rank the comparison first, without submitting it: your ranking becomes the expected one,
          under each criterion if there are several. Rank at least two responses.
        </p>
      )}
    </Dialog>
  );
}
