/** What who leads expects of two responses, under each criterion: chosen here, as one key would submit. */
import { atStep, decided, wordsOf, type Move, type Ranking } from "../ranking/ranking";

const CHOICES: readonly { words: string; by: Move }[] = [
  { words: "A is better", by: { kind: "letter", card: 0 } },
  { words: "B is better", by: { kind: "letter", card: 1 } },
  { words: "Tie", by: { kind: "tie" } },
];

/** The ranking with this said under one criterion, or of the whole; the criterion on screen stays. */
function expecting(expected: Ranking, step: number, by: Move): Ranking {
  const said = decided(atStep(expected, step), by);
  return said === null ? expected : atStep(said, expected.step);
}

export function ExpectedOfTwo(props: { expected: Ranking; onExpect: (expected: Ranking) => void }) {
  const { expected, onExpect } = props;
  const names = expected.criteria.length === 0 ? [""] : expected.criteria.map(({ name }) => name);
  return names.map((name, step) => (
    <div className="row" role="group" aria-label={name || "Expected ranking"} key={step}>
      <span className="muted">{name || "Expected"}</span>
      {CHOICES.map(({ words, by }) => {
        const chosen = expecting(expected, step, by);
        return (
          <button
            type="button"
            className="btn choice"
            key={words}
            aria-pressed={wordsOf(chosen) === wordsOf(expected)}
            onClick={() => onExpect(chosen)}
          >
            {words}
          </button>
        );
      })}
    </div>
  ));
}
