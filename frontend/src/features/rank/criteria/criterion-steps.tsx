/** By what the cards are ranked now, and the criteria before and after it. */
import "./criteria.css";

import type { Move, Ranking } from "../ranking/ranking";
import { canOpen } from "./steps";

export function CriterionSteps(props: { ranking: Ranking; onMove: (move: Move) => void }) {
  const { ranking, onMove } = props;
  const { criteria, step } = ranking;
  const now = criteria[step];
  if (now === undefined) return null;
  return (
    <div className="criteria" role="group" aria-label="Criteria">
      <p className="asked">
        {criteria.length > 1 && (
          <span className="muted nowrap">
            {step + 1} of {criteria.length}:{" "}
          </span>
        )}
        <b>{now.name}</b> <span className="question">{now.question}</span>
      </p>
      {criteria.length > 1 && (
        <ol>
          {criteria.map(({ name, question }, at) => (
            <li key={name}>
              <button
                type="button"
                className="btn choice"
                title={question}
                aria-current={at === step ? "step" : undefined}
                disabled={!canOpen(ranking, at)}
                onClick={() => onMove({ kind: "step", step: at })}
              >
                {name}
              </button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
