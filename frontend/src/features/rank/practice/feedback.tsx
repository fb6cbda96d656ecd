/** What was expected of a practice comparison, beside what was answered, and why. */
import { useLayoutEffect, useRef, useState } from "react";

import type { CriterionRanking, PracticeFeedback, PracticeTask } from "@/api/types";
import { Conversation } from "@/components/text/conversation";
import { RawButton } from "@/components/response/raw-button";
import { ResponseText } from "@/components/response/response-text";
import { Markdown } from "@/components/text/markdown";
import { ordinal, plural, words } from "@/lib/format";
import { useKeys } from "@/lib/shortcuts/use-keys";

import { isPressable } from "../keys/enter";
import { Hint } from "../keys/hint";
import { useKeymap } from "../keys/keymap-store";
import { commandOf } from "../keys/keys";
import { pressOf } from "../keys/press";
import { DOUBLE_CLICK_MS } from "../keys/twice";
import { atStep, letterOf, start, type Ranking } from "../ranking/ranking";
import { expectedCards, orderOf } from "./orders";

export function Feedback(props: {
  task: PracticeTask;
  ranking: Ranking;
  feedback: PracticeFeedback;
  onNext: () => void;
}) {
  const { task, ranking, feedback, onNext } = props;
  const { agreed, pairs, state } = feedback;
  const ids = task.comparison.responses.map(({ id }) => id);
  const { headline, isNew } = useDrawn();
  const keymap = useKeymap();
  const [isRaw, setRaw] = useState(false);
  const toggleRaw = () => setRaw((now) => !now);
  useKeys((event) => {
    if (commandOf(pressOf(event), start(2), [], keymap)?.kind === "raw") {
      if (!event.repeat) toggleRaw();
      return true;
    }
    if (event.key !== "Enter") return false;
    // An Enter that is held a little long, or the second of two, has sent the answer; it does not
    // skip what is shown now.
    if (event.repeat || isNew()) return true;
    if (isPressable(event.target)) return false;
    onNext();
    return true;
  });
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1 ref={headline} className="practice-headline" tabIndex={-1}>
            {wordsOf(agreed, pairs)}
          </h1>
          <p>
            {agreed} of {plural(pairs, "pair")} {agreed === 1 || pairs === 1 ? "agrees" : "agree"}{" "}
            with the expected ranking. Practice {state.answered} of {state.comparisons}.
          </p>
        </div>
      </div>
      <section className="card padded stack">
        {feedback.expected.map((expected, step) => (
          <Orders
            key={expected.criterion}
            expected={expected}
            ids={ids}
            answer={atStep(ranking, step)}
          />
        ))}
        {feedback.explanation.trim() !== "" && <Markdown text={feedback.explanation} />}
        {state.passed_at !== null && (
          <p className="note good" role="status">
            <b>You have passed.</b> What you rank from now on counts.
          </p>
        )}
        <div className="row">
          <button
            type="button"
            className="btn primary"
            // The second click of two may come to the place where the first has sent the answer.
            onClick={(event) => event.detail < 2 && onNext()}
          >
            {nextVerb(feedback)} <kbd>Enter</kbd>
          </button>
        </div>
      </section>
      {feedback.expected.slice(0, 1).map((expected) => (
        <Responses
          key={expected.criterion}
          task={task}
          expected={expected}
          isRaw={isRaw}
          onRaw={toggleRaw}
        />
      ))}
    </div>
  );
}

/**
 * Reading begins at the headline: a button with the focus would be pressed by the keys with which
 * somebody sent the answer or scrolls. `isNew`: nobody can have read it in so short a time.
 */
function useDrawn() {
  const headline = useRef<HTMLHeadingElement>(null);
  const drawnAt = useRef(0);
  useLayoutEffect(() => {
    drawnAt.current = performance.now();
    headline.current?.focus({ preventScroll: true });
  }, []);
  return { headline, isNew: () => performance.now() - drawnAt.current < DOUBLE_CLICK_MS };
}

/** Prompt and responses once more, best first under the (first) criterion. */
function Responses(props: {
  task: PracticeTask;
  expected: CriterionRanking;
  isRaw: boolean;
  onRaw: () => void;
}) {
  const { expected, isRaw } = props;
  const { prompt, responses } = props.task.comparison;
  const ids = responses.map(({ id }) => id);
  return (
    <section className="practice-responses" aria-label="Responses as expected">
      <div className="row">
        <RawButton isRaw={isRaw} onToggle={props.onRaw}>
          <Hint action="raw" />
        </RawButton>
      </div>
      <article className="card padded">
        <h2>Prompt</h2>
        <Conversation messages={prompt.messages} isRaw={isRaw} />
      </article>
      {expectedCards(expected, ids).map(({ card, rank }) => (
        <article className="card padded" key={card}>
          <h2>
            {letterOf(card)}, expected {rank === null ? "unranked" : ordinal(rank)}
            {expected.criterion !== "" && ` by ${expected.criterion}`}
          </h2>
          <ResponseText content={responses[card]?.content ?? ""} isRaw={isRaw} />
        </article>
      ))}
    </section>
  );
}

function wordsOf(agreed: number, pairs: number): string {
  if (agreed === pairs) return "As expected";
  return agreed === 0 ? "Not as expected" : "Partly as expected";
}

function nextVerb({ state }: PracticeFeedback): string {
  if (state.passed_at !== null) return "Start ranking";
  return state.next === null ? "See the result" : "Next practice comparison";
}

function Orders(props: { expected: CriterionRanking; ids: readonly string[]; answer: Ranking }) {
  const { expected, ids, answer } = props;
  const isRanked = answer.verdict === "ranked";
  return (
    <dl className="practice-orders" aria-label={expected.criterion || undefined}>
      {expected.criterion !== "" && (
        <div className="criterion-name">
          <dt>
            <b>Criterion</b>
          </dt>
          <dd>
            <b>{expected.criterion}</b>
          </dd>
        </div>
      )}
      <dt className="muted">Expected</dt>
      <dd className="mono">
        {orderOf(expected.tiers.map((tier) => tier.map((id) => ids.indexOf(id))))}
      </dd>
      <dt className="muted">You</dt>
      <dd className="mono">{isRanked ? orderOf(answer.tiers) : words(answer.verdict)}</dd>
    </dl>
  );
}
