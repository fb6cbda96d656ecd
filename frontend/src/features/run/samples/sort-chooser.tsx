/** In which order the samples of a step are listed. */
import type { Sample } from "@/api/types";

/** The score that an order goes by: the highest first with a minus before it. */
const scoreOf = (sort: string): string => sort.replace(/^-/, "");

const LOGGED = "order";

/** The highest first, and the lowest; of other scores than these, by their names. */
const WORDS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["n_tokens", ["longest", "shortest"]],
  ["kl", ["highest KL", "lowest KL"]],
]);

const wordsOf = (score: string): readonly [string, string] =>
  WORDS.get(score) ?? [`highest ${score}`, `lowest ${score}`];

export function SortChooser(props: {
  samples: readonly Sample[];
  sort: string;
  onSort: (sort: string) => void;
}) {
  const { samples, sort } = props;
  const known = samples.flatMap(({ scores }) => Object.keys(scores));
  // Where nothing is found, the order still stands.
  const scores = new Set(sort === LOGGED ? known : [...known, scoreOf(sort)]);
  return (
    <select
      className="input sort-select"
      aria-label="Sort"
      value={sort}
      onChange={(event) => props.onSort(event.target.value)}
    >
      <option value={LOGGED}>in logged order</option>
      {[...scores].map((score) => {
        const [highest, lowest] = wordsOf(score);
        return [
          <option key={`-${score}`} value={`-${score}`}>
            {highest}
          </option>,
          <option key={score} value={score}>
            {lowest}
          </option>,
        ];
      })}
    </select>
  );
}
